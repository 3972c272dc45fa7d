// Scenario 30: the program that makes a session is SIGKILLed at each of its system calls in
// turn. After that either the session is there, whole, or nothing of it runs, and what is left of
// its record is removed by it alone.

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/actor.h"
#include "tests/support/test_backend.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

namespace fs = std::filesystem;

struct Made {
  bool killed = false;
  int calls = 0;
};

class KillAtEveryStep : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
    // A child that is forked without exec must share no lease of ours.
    runtime_.reset();
  }
  void TearDown() override {
    runtime_ = OtherRuntime();
    TreeTest::TearDown();
  }

  // Makes a session in a child that is killed at the entry of its `nth` system call; not killed if
  // it needs fewer.
  Made MakeAndDie(int nth, bool durable) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto runtime = CreateTestRuntime(dir_);
      if (!runtime.ok() || ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
      raise(SIGSTOP);
      auto session = (*runtime)->CreateSession(
          {.name = "made",
           .command = Command::Shell(absl::StrCat("echo ran >", reports_->path(), "; exec cat")),
           .durable = durable});
      // Killed in any case: what counts is what the session is without its owner.
      if (session.ok()) kill(getpid(), SIGKILL);
      _exit(1);
    }
    Made made;
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSTOPPED(status)) << "the child could not be traced: " << status;
    ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    bool entry = false;
    while (WIFSTOPPED(status)) {
      ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
      waitpid(pid, &status, 0);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
      entry = !entry;
      if (entry && ++made.calls == nth) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        made.killed = true;
        break;
      }
    }
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
    return made;
  }

  void Sweep(bool durable, int stride);

  std::unique_ptr<Fifo> reports_;
};

void KillAtEveryStep::Sweep(bool durable, int stride) {
  const auto store = Store::Open(dir_);
  ASSERT_THAT(store, IsOk());
  int alive = 0, orphans = 0, nothing = 0, steps = 0;
  bool killed = true;
  for (int nth = 1; killed; nth += stride) {
    SCOPED_TRACE(absl::StrCat(durable ? "durable" : "ephemeral", ", call ", nth));
    const Made made = MakeAndDie(nth, durable);
    killed = made.killed;
    steps = made.calls;

    // What ends by itself does so first: the launcher, and the keeper of a session that is not to
    // be.
    const absl::StatusOr<Record> record = (*store)->Find("made");
    const bool whole = record.ok() && record->state == kStateRunning && durable && [&] {
      auto other = OtherRuntime();
      auto session = other->Find("made");
      if (session.ok() && (*session)->CheckLiveness().liveness != Liveness::kAlive) {
        // Its keeper has found out, or is about to, that nobody will open its gate; its record goes
        // before it does.
        ExpectGone(static_cast<pid_t>(record->keeper.pid), absl::Seconds(10));
        session = other->Find("made");
        EXPECT_THAT(session, StatusIs(absl::StatusCode::kNotFound));
      }
      if (!session.ok()) return false;
      EXPECT_EQ((*session)->CheckLiveness().liveness, Liveness::kAlive);
      EXPECT_EQ(reports_->Line(), "ran");
      EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
      return true;
    }();
    if (whole) {
      ++alive;
    } else {
      const std::vector<std::string> left = World::Leftovers(absl::Seconds(10));
      ASSERT_TRUE(left.empty()) << absl::StrJoin(left, "\n");
      // An ephemeral one may have run before its owner died; a durable one that is gone has not.
      while (!durable && !reports_->Quiet()) EXPECT_EQ(reports_->Line(), "ran");
      ASSERT_TRUE(reports_->Quiet()) << "it ran, and is not there";
      const absl::StatusOr<Listing> listing = (*store)->List();
      ASSERT_THAT(listing, IsOk());
      ASSERT_TRUE(listing->broken.empty()) << listing->broken[0].why;
      (listing->records.empty() ? nothing : orphans)++;
      for (const Record& each : listing->records) {
        EXPECT_EQ(each.state, kStateStarting);
        EXPECT_EQ(OwnerLiveness((*store)->dir(), each), Liveness::kDead);
      }
      // The name passes on to whoever wants it next, and Destroy by the handle removes the rest.
      auto other = OtherRuntime();
      auto next = other->CreateSession({.name = "made", .command = Command::Argv({"cat"})});
      ASSERT_THAT(next, IsOk());
      ASSERT_THAT((*next)->Destroy(absl::ZeroDuration()), IsOk());
      for (const Record& each : listing->records) {
        auto orphan = other->Open(absl::StrCat(TestBackend(), ":", each.uid));
        ASSERT_THAT(orphan, IsOk());
        ASSERT_THAT((*orphan)->Destroy(absl::ZeroDuration()), IsOk());
      }
    }
    // No reaper yet: leases of the dead and what was never finished are tidied by hand.
    ASSERT_THAT((*store)->Tidy(), IsOk());
    for (const auto& entry : fs::directory_iterator(dir_ + "/owners")) {
      ASSERT_THAT(RemoveFreeLease((*store)->dir(), entry.path().filename()), IsOk());
    }
    for (const char* folder : {"/sessions", "/run", "/owners", "/names"}) {
      for (const auto& entry : fs::directory_iterator(dir_ + folder)) {
        const std::string name = entry.path().filename();
        ASSERT_TRUE(name == ".lock" || name == ".take") << entry.path();
      }
    }
    const std::vector<std::string> left = World::Leftovers(absl::Seconds(10));
    ASSERT_TRUE(left.empty()) << absl::StrJoin(left, "\n");
  }
  RecordProperty("system_calls", steps);
  RecordProperty("alive", alive);
  RecordProperty("orphans", orphans);
  EXPECT_GT(steps, 60);
  EXPECT_GT(nothing, 3);
  EXPECT_GT(orphans, 3);
  if (durable) {
    EXPECT_GT(alive, 0);
  } else {
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(KillAtEveryStep, ADurableSessionIsThereWholeOrNothingIs) { Sweep(true, 1); }

TEST_F(KillAtEveryStep, AnEphemeralSessionIsGone) { Sweep(false, 1); }

}  // namespace
}  // namespace berth
