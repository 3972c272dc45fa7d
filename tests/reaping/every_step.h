// EveryStep: a session's maker is SIGKILLed at each of its system calls in turn, and one sweep
// follows.
#ifndef BERTH_TESTS_REAPING_EVERY_STEP_H_
#define BERTH_TESTS_REAPING_EVERY_STEP_H_

#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/report.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/reaping/reaping_test.h"
#include "tests/support/test_backend.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {

enum class Dies { kMaker, kMakerAndLauncher };

class EveryStep : public ReapingTest {
 protected:
  void SetUp() override {
    ReapingTest::SetUp();
    runtime_.reset();  // a child that is forked without exec must share no lease of ours
  }
  void TearDown() override {
    runtime_ = OtherRuntime();
    ReapingTest::TearDown();
  }

  // Makes a session in a child that is killed at the entry of its `nth` system call. False if it
  // needs fewer; it is killed then too.
  bool MakeAndDie(int nth, bool durable, Dies dies) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto runtime = CreateTestRuntime(dir_);
      if (!runtime.ok()) _exit(77);
      // On tmux the steps are those with a server that runs: one that is just starting when its
      // maker dies is nobody's yet.
      absl::StatusOr<std::unique_ptr<Session>> first = absl::NotFoundError("");
      if (TestBackend() == "tmux") {
        first = (*runtime)->CreateSession(
            {.name = "first", .command = Command::Argv({"cat"}), .durable = false});
        if (!first.ok()) {
          fprintf(stderr, "%s\n", first.status().ToString().c_str());
          _exit(78);
        }
      }
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(79);
      raise(SIGSTOP);
      auto session = (*runtime)->CreateSession(
          {.name = "made", .command = Command::Argv({"cat"}), .durable = durable});
      if (session.ok()) raise(SIGKILL);
      _exit(1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSTOPPED(status)) << "the child could not be traced: " << status;
    ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    bool entry = false;
    for (int calls = 0; WIFSTOPPED(status);) {
      ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
      waitpid(pid, &status, 0);
      if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
      entry = !entry;
      if (!entry || ++calls < nth) continue;
      if (dies == Dies::kMakerAndLauncher) {
        for (const pid_t each : World::MembersNamed("berth-launcher")) KillOther(each);
      }
      KillChild(pid);
      return true;
    }
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
    return false;
  }

  // The session that outlived its maker, which is alive then; false if there is none.
  bool RemoveSurvivor() {
    const absl::StatusOr<Record> record = store_->Find("made");
    if (!record.ok()) return false;
    auto runtime = OtherRuntime();
    auto session = runtime->Find("made");
    if (session.ok() && (*session)->CheckLiveness().liveness != Liveness::kAlive) {
      // Its keeper has found out, or is about to, that nobody will open its gate: it removes the
      // record before it goes.
      ExpectGone(static_cast<pid_t>(record->keeper.pid), absl::Seconds(10));
      return false;
    }
    if (!session.ok()) return false;
    EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), ::absl_testing::IsOk());
    return true;
  }

  void KillAtEach(bool durable, Dies dies) {
    if (!World::Exists()) GTEST_SKIP() << "leftovers cannot be found: " << World::WhyNot();
    int alive = 0, reaped = 0, steps = 1;
    for (bool killed = true; killed; ++steps) {
      SCOPED_TRACE(absl::StrCat("killed at system call ", steps));
      killed = MakeAndDie(steps, durable, dies);
      const reaper::Report report = Sweep();
      SCOPED_TRACE(reaper::ToText(report, true, false));
      ASSERT_EQ(report.failed + report.doubts, 0);
      reaped += report.done > 0;
      const bool survived = RemoveSurvivor();
      EXPECT_TRUE(!survived || durable);
      alive += survived;
      ExpectNothing();
      if (HasFailure()) break;
    }
    RecordProperty("system_calls", steps);
    RecordProperty("alive", alive);
    RecordProperty("reaped", reaped);
    EXPECT_GT(steps, 60);
    EXPECT_GT(reaped, 10);
    EXPECT_EQ(alive > 0, durable);
  }
};

}  // namespace berth

#endif  // BERTH_TESTS_REAPING_EVERY_STEP_H_
