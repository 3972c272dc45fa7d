#include "runtime/agent/run_clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using Due = RunClock::Due;

constexpr RunClock::Tick At(int seconds) { return absl::Seconds(1000 + seconds); }

TEST(RunClock, EndsASilentRunAtTheLimitAndNotBefore) {
  RunClock clock(absl::Seconds(30), absl::InfiniteDuration(), At(0));
  EXPECT_EQ(clock.Check(At(29)), Due::kNone);
  EXPECT_EQ(clock.Check(At(30)), Due::kInactivity);
  clock.Activity(At(20));
  EXPECT_EQ(clock.Check(At(49)), Due::kNone);
  EXPECT_EQ(clock.Deadline(), At(50));
  EXPECT_EQ(clock.Check(At(50)), Due::kInactivity);
}

TEST(RunClock, CountsNothingUntilExactlyTheResetOfAHardRateLimit) {
  RunClock clock(absl::Seconds(30), absl::InfiniteDuration(), At(0));
  clock.Activity(At(5));
  clock.HoldUntil(At(600));
  EXPECT_EQ(clock.Deadline(), At(630));
  EXPECT_EQ(clock.Check(At(629)), Due::kNone);
  // Something printed while it waits does not shorten the wait.
  clock.Activity(At(10));
  EXPECT_EQ(clock.Deadline(), At(630));
  // After the reset silence counts as ever.
  clock.Activity(At(700));
  EXPECT_EQ(clock.Deadline(), At(730));
}

TEST(RunClock, AResetInThePastChangesNothing) {
  RunClock clock(absl::Seconds(30), absl::InfiniteDuration(), At(0));
  clock.Activity(At(50));
  clock.HoldUntil(At(20));
  EXPECT_EQ(clock.Deadline(), At(80));
}

TEST(RunClock, ALimitThatIsLiftedCountsFromTheLastOutput) {
  RunClock clock(absl::Seconds(30), absl::InfiniteDuration(), At(0));
  clock.HoldUntil(At(600));
  clock.Activity(At(10));
  clock.Release();
  EXPECT_EQ(clock.Deadline(), At(40));
}

TEST(RunClock, TheWallBudgetHoldsWhateverTheRateLimit) {
  RunClock clock(absl::Seconds(30), absl::Seconds(100), At(0));
  clock.HoldUntil(At(600));
  EXPECT_EQ(clock.Deadline(), At(100));
  EXPECT_EQ(clock.Check(At(100)), Due::kWall);
}

TEST(RunClock, WithoutLimitsNothingIsEverDue) {
  RunClock clock(absl::InfiniteDuration(), absl::InfiniteDuration(), At(0));
  EXPECT_EQ(clock.Check(absl::Hours(1'000'000)), Due::kNone);
  EXPECT_EQ(clock.Deadline(), absl::InfiniteDuration());
}

}  // namespace
}  // namespace berth
