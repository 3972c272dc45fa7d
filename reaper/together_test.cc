// Several reapers at once, and one that is killed in the midst of its work.

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/lock.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/state_dir.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class Together : public StoreTest {
 protected:
  void MakeOrphans(int count) {
    for (int i = 0; i < count; ++i) MakeOrphan(*store_, absl::StrCat("s", i), dead_);
  }
  size_t Left() const { return store_->List()->records.size(); }
};

TEST_F(Together, OneSweepsAndTheOthersFindNothingToDo) {
  MakeOrphans(40);
  std::vector<pid_t> reapers;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto store = Store::Open(dir_ / "state");
      const auto report = Sweep(**store, {.lock_wait = absl::Minutes(1)});
      _exit(report.ok() ? ExitCodeOf(*report) : 125);
    }
    reapers.push_back(pid);
  }
  int done = 0, nothing = 0;
  for (const pid_t pid : reapers) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    done += WEXITSTATUS(status) == kExitDone;
    nothing += WEXITSTATUS(status) == kExitNothing;
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(nothing, 3);
  EXPECT_EQ(Left(), 0u);
}

TEST_F(Together, OneThatMayNotWaitSaysWhoIsAtWork) {
  const TestChild holder([&](int ready) {
    auto lock = Lock::Take(store_->dir(), absl::Now());
    if (!lock.ok()) _exit(1);
    SayReady(ready);
    while (true) pause();
  });
  ASSERT_TRUE(holder.ready());
  EXPECT_THAT(
      Sweep(*store_, {.lock_wait = absl::ZeroDuration()}),
      StatusIs(absl::StatusCode::kAborted, HasSubstr(absl::StrCat("process ", holder.pid()))));
}

TEST_F(Together, OneThatWaitsGoesOnWhenTheOtherIsKilled) {
  TestChild holder([&](int ready) {
    auto lock = Lock::Take(store_->dir(), absl::Now());
    if (!lock.ok()) _exit(1);
    SayReady(ready);
    while (true) pause();
  });
  ASSERT_TRUE(holder.ready());
  const pid_t waiter = fork();
  if (waiter == 0) {
    const auto report = Sweep(*store_, {.lock_wait = absl::Minutes(1)});
    _exit(report.ok() ? ExitCodeOf(*report) : 125);
  }
  holder.Kill();
  int status = 0;
  ASSERT_EQ(waitpid(waiter, &status, 0), waiter);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kExitNothing) << status;
}

TEST_F(Together, OneThatIsKilledInTheMidstIsFinishedByTheNext) {
  MakeOrphans(60);
  const UniqueFd inotify(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(inotify_add_watch(inotify.get(), (dir_ / "state/sessions").c_str(), IN_MOVED_FROM), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    Sweep(*store_, {}).IgnoreError();
    _exit(0);
  }
  ASSERT_THAT(WaitFd(inotify.get(), POLLIN, absl::Now() + absl::Seconds(60), "first removal"),
              IsOk());
  kill(pid, SIGKILL);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  const auto report = Sweep(*store_, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->failed, 0) << ToText(*report, true, false);
  EXPECT_EQ(Left(), 0u);
  for (const char* folder : {"sessions", "names"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(dir_ / (std::string("state/") + folder))) {
      EXPECT_EQ(entry.path().filename(), ".lock");
    }
  }
}

// At the entry of each system call of a sweep in turn.
TEST_F(Together, OneThatIsKilledAtAnyPointIsFinishedByTheNext) {
  const StateDir& dir = store_->dir();
  bool killed = true;
  int calls = 0;
  for (int nth = 1; killed; ++nth) {
    SCOPED_TRACE(absl::StrCat("killed at system call ", nth));
    const Record made = MakeOrphan(*store_, "orphan", dead_, [&](Record& it) {
      it.temp_dirs = {dir_ / absl::StrCat("berth-", it.uid, "-tmp")};
    });
    fs::create_directories(made.temp_dirs[0] + "/a/b");
    WriteText(made.temp_dirs[0] + "/a/b/file", "x");
    WriteText(absl::StrCat(dir.path(), "/sessions/", made.uid, "/log"), "x");
    WriteText(dir.path() + "/owners/left", IdentityToJson(dead_));
    const std::string broken = absl::StrCat("broken", nth);
    WriteText(dir.path() + "/sessions/" + broken, "bytes");
    const pid_t pid = fork();
    if (pid == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
      raise(SIGSTOP);
      Sweep(*store_, {}).IgnoreError();
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
    ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    killed = false;
    bool entry = false;
    for (calls = 0; WIFSTOPPED(status);) {
      ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
      ASSERT_EQ(waitpid(pid, &status, 0), pid);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
      entry = !entry;
      if (!entry || ++calls != nth) continue;
      killed = true;
      kill(pid, SIGKILL);
    }
    const absl::StatusOr<Report> report = Sweep(*store_, {});
    ASSERT_THAT(report, IsOk());
    ASSERT_EQ(report->failed + report->doubts, 0) << ToText(*report, true, false);
    for (const char* folder : {"sessions", "names", "owners", "run"}) {
      for (const auto& each : fs::directory_iterator(dir.path() + "/" + folder)) {
        ASSERT_EQ(each.path().filename(), ".lock") << each.path();
      }
    }
    ASSERT_FALSE(fs::exists(made.temp_dirs[0]));
    ASSERT_EQ(ReadText(absl::StrCat(dir.path(), "/quarantine/", broken, ".0")), "bytes");
  }
  EXPECT_GT(calls, 100);
}

// Whatever time there is, no more is used, and the rest is told to be undone.
TEST_F(Together, TimeThatRunsOutLeavesTheRestForLater) {
  MakeOrphans(3);
  const auto report = Sweep(*store_, {.time = absl::ZeroDuration()});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->out_of_time, 3);
  EXPECT_EQ(ExitCodeOf(*report), kExitPartial);
  EXPECT_EQ(Left(), 3u);
}

}  // namespace
}  // namespace berth::reaper
