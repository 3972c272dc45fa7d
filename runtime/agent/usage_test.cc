#include "runtime/agent/usage.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

TEST(UsageTally, CountsAMessageOnceHoweverOftenItIsTold) {
  UsageTally tally;
  const Usage first{.input = 10, .output = 100, .cache_creation = 5, .cache_read = 7};
  EXPECT_TRUE(tally.Add("msg_1", first));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(tally.Add("msg_1", first));
  EXPECT_EQ(tally.total(), first);
  EXPECT_TRUE(tally.Add("msg_2", {.input = 1, .output = 2}));
  EXPECT_EQ(tally.total(),
            (Usage{.input = 11, .output = 102, .cache_creation = 5, .cache_read = 7}));
}

TEST(UsageTally, TakesTheLargestFigureOfAMessageThatGrows) {
  UsageTally tally;
  tally.Add("m", {.input = 10, .output = 1});
  tally.Add("m", {.input = 0, .output = 100});
  tally.Add("m", {.input = 10, .output = 60});
  EXPECT_EQ(tally.total(), (Usage{.input = 10, .output = 100}));
}

TEST(UsageTally, DoesNotOverflowOrShrinkOnHostileFigures) {
  UsageTally tally;
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 100; ++i) tally.Add(absl::StrCat("m", i), {.input = most, .output = -most});
  EXPECT_GT(tally.total().input, int64_t{1} << 59);
  EXPECT_EQ(tally.total().output, 0);
}

TEST(UsageTally, ForgetsIdsButNotWhatTheyUsed) {
  UsageTally tally;
  for (int i = 0; i < 20'000; ++i) tally.Add(absl::StrCat("m", i), {.output = 1});
  EXPECT_EQ(tally.total().output, 20'000);
}

TEST(Prices, ArePerMillionTokens) {
  const Prices prices{.input = 3, .output = 15, .cache_creation = 3.75, .cache_read = 0.3};
  EXPECT_DOUBLE_EQ(prices.Cost({.input = 1'000'000, .output = 100'000}), 4.5);
  EXPECT_DOUBLE_EQ(prices.Cost({.cache_creation = 1'000'000, .cache_read = 1'000'000}), 4.05);
}

}  // namespace
}  // namespace berth
