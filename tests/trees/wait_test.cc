// Scenario 13: Wait, with deadlines, kills, signals and company.

#include <poll.h>
#include <signal.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

using Wait = TreeTest;

absl::Time In(int ms) { return absl::Now() + absl::Milliseconds(ms); }

// What both kinds have in common.
template <typename Waitable>
void TimesOutThenKillThenTellsTheStatus(Waitable* it) {
  const absl::Time start = absl::Now();
  EXPECT_THAT(it->Wait(start + absl::Milliseconds(50)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(50));
  EXPECT_THAT(it->Wait(absl::InfinitePast()), StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_THAT(it->Signal(SIGKILL), IsOk());
  const ExitStatus killed{0, SIGKILL, EndReason::kStopped};
  for (int i = 0; i < 3; ++i) {
    const auto status = it->Wait(In(30000));
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(*status, killed) << Describe(*status);
  }
  const auto stopped = it->Stop(absl::ZeroDuration());
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(*stopped, killed) << Describe(*stopped);
  EXPECT_THAT(it->Signal(SIGTERM), StatusIs(absl::StatusCode::kFailedPrecondition));
}

template <typename Waitable>
void TenWaitersGetTheSameAnswer(Waitable* it) {
  std::vector<absl::StatusOr<ExitStatus>> answers(10, absl::UnknownError("none"));
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&answer, it] { answer = it->Wait(In(30000)); });
  }
  ASSERT_THAT(it->Signal(SIGUSR1), IsOk());
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) {
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(*answer, (ExitStatus{42, 0, EndReason::kExited})) << Describe(*answer);
  }
}

constexpr char kExitOnSignal[] =
    "trap 'exit 42' USR1; echo ready; while :; do sleep 1000 & wait; done";

TEST_F(Wait, OfASessionTimesOutThenKillThenTellsTheStatus) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  TimesOutThenKillThenTellsTheStatus(session.get());
}

TEST_F(Wait, OfAProcessTimesOutThenKillThenTellsTheStatus) {
  auto process = runtime_->Spawn({.command = Command::Argv({"sleep", "1000"})});
  ASSERT_THAT(process, IsOk());
  TimesOutThenKillThenTellsTheStatus(process->get());
}

TEST_F(Wait, OfAnExecTimesOutThenKillThenTellsTheStatus) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  auto process = session->Exec({.command = Command::Argv({"sleep", "1000"})});
  ASSERT_THAT(process, IsOk());
  TimesOutThenKillThenTellsTheStatus(process->get());
}

TEST_F(Wait, TenWaitersOfASessionGetTheSameAnswer) {
  auto session = Create({.name = "a", .command = Command::Shell(kExitOnSignal)});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "ready");
  TenWaitersGetTheSameAnswer(session.get());
  // And one that comes late, from elsewhere.
  auto other = OtherRuntime();
  auto again = other->Open(session->handle());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)->Wait(absl::Now() + absl::Seconds(10))->code, 42);
}

TEST_F(Wait, TenWaitersOfAProcessGetTheSameAnswer) {
  auto process = runtime_->Spawn({.command = Command::Shell(kExitOnSignal)});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  ReadUntil(out->get(), "ready");
  TenWaitersGetTheSameAnswer(process->get());
}

TEST_F(Wait, TellsASignalAsASignal) {
  for (const int signal : {SIGTERM, SIGSEGV, SIGKILL, SIGUSR2, SIGRTMIN + 3}) {
    const std::string line = absl::StrCat("kill -", signal, " $$; echo alive; exit 1");
    auto session = Create({.name = "a", .command = Command::Shell(line)});
    ASSERT_NE(session, nullptr);
    const ExitStatus expected{0, signal, EndReason::kSignaled};
    const auto of_session = session->Wait(Soon());
    ASSERT_THAT(of_session, IsOk());
    EXPECT_EQ(*of_session, expected) << Describe(*of_session);
    ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
    auto process = runtime_->Spawn({.command = Command::Shell(line)});
    ASSERT_THAT(process, IsOk());
    const auto of_process = (*process)->Wait(Soon());
    ASSERT_THAT(of_process, IsOk());
    EXPECT_EQ(*of_process, expected) << Describe(*of_process);
  }
}

TEST_F(Wait, TellsACodeAbove128AsACode) {
  auto process = runtime_->Spawn({.command = Command::Shell("exit 137")});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(*(*process)->Wait(Soon()), (ExitStatus{137, 0, EndReason::kExited}));
}

TEST_F(Wait, TheExitDescriptorIsReadableOnceWaitWouldReturn) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  auto exit = session->ExitFd();
  ASSERT_THAT(exit, IsOk());
  EXPECT_THAT(WaitFd(exit->get(), POLLIN, absl::InfinitePast(), "early"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_THAT(session->Signal(SIGKILL), IsOk());
  ASSERT_THAT(WaitFd(exit->get(), POLLIN, Soon(), "end"), IsOk());
  EXPECT_THAT(session->Wait(absl::Now() + absl::Seconds(1)), IsOk());
}

TEST_F(Wait, ASessionDestroyedUnderAWaiterIsNotLeftHanging) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  absl::StatusOr<ExitStatus> answer = absl::UnknownError("none");
  std::thread waiter([&] { answer = session->Wait(In(30000)); });
  EXPECT_THAT(session->Destroy(absl::Seconds(1)), IsOk());
  waiter.join();
  // Heard in time, or came too late and was told that there is no such session.
  if (answer.ok()) {
    EXPECT_EQ(answer->reason, EndReason::kStopped);
  } else {
    EXPECT_THAT(answer, StatusIs(absl::StatusCode::kNotFound));
  }
}

}  // namespace
}  // namespace berth
