// Limits in time end a session, and the reason is told.

#include <signal.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

using Limits = RuntimeTest;

TEST_F(Limits, OfTheWallClockEndWithThatReason) {
  auto session =
      runtime_->CreateSession({.name = "wall",
                               .command = Command::Shell("while :; do echo busy; sleep 0.01; done"),
                               .wall_limit = absl::Milliseconds(200),
                               .inactivity_limit = absl::Seconds(60)});
  ASSERT_THAT(session, IsOk());
  const absl::Time start = absl::Now();
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kWall) << Describe(*end);
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_GT(absl::Now() - start, absl::Milliseconds(100));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_EQ((*session)->Info()->exit, *end);
}

TEST_F(Limits, OfInactivityEndWithThatReasonAndKillWhatIgnoresTheSignal) {
  auto session = runtime_->CreateSession(
      {.name = "quiet",
       .command = Command::Shell("trap '' TERM; while :; do read line; done"),
       .wall_limit = absl::Seconds(60),
       .inactivity_limit = absl::Milliseconds(200),
       .grace = absl::Milliseconds(100)});
  ASSERT_THAT(session, IsOk());
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kInactivity) << Describe(*end);
  EXPECT_EQ(end->signal, SIGKILL);
  // Told the same by who comes later.
  auto again = OtherRuntime()->Open((*session)->handle());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(*(*again)->Wait(Soon()), *end);
}

TEST_F(Limits, OfInactivityLeaveAProgramAloneThatGoesOnWriting) {
  auto session = runtime_->CreateSession(
      {.name = "steady",
       .command =
           Command::Shell("for i in 1 2 3 4 5 6 7 8 9; do echo $i >&2; sleep 0.3; done; exit 9"),
       .pty = false,
       .inactivity_limit = absl::Seconds(2)});
  ASSERT_THAT(session, IsOk());
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(*end, (ExitStatus{.code = 9, .signal = 0, .reason = EndReason::kExited}))
      << Describe(*end);
}

TEST_F(Limits, OfCenturiesAreNotOver) {
  auto session = runtime_->CreateSession({.name = "long",
                                          .command = Command::Shell("echo up; cat"),
                                          // In nanoseconds a little more than 64 bits.
                                          .wall_limit = absl::Milliseconds(18446744073710),
                                          .inactivity_limit = absl::Milliseconds(18446744073710)});
  ASSERT_THAT(session, IsOk());
  ReadUntil((*session)->OpenOutput({})->fd.get(), "up");
  EXPECT_THAT((*session)->Wait(absl::Now() + absl::Milliseconds(100)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

}  // namespace
}  // namespace berth
