// Rows 26 and 27 of the list of escapes, of the sandbox: hostile policies and descriptions are
// refused by name, and never end the host.

#include <stdint.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "sandbox/policy.h"
#include "tests/escape/policy_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;

class InputTest : public PolicyTest {};

TEST_P(InputTest, PathsThatCanBeNoneAreRefusedByTheBuilderAndInText) {
  const std::string bad[] = {std::string("/a\0b", 4),
                             "/a/../b",
                             "..",
                             "/..",
                             "relative",
                             "",
                             "//",
                             "/" + std::string(5000, 'x'),
                             "/a\n/../b",
                             absl::StrCat("/", std::string(4096, '/'), "a/..")};
  for (const std::string& path : bad) {
    EXPECT_THAT(Agent().ReadOnly(path).Build(), StatusIs(absl::StatusCode::kInvalidArgument))
        << path.substr(0, 40);
    EXPECT_THAT(Agent().Tmpfs(path).Build(), StatusIs(absl::StatusCode::kInvalidArgument));
    if (!path.empty()) {  // which is the same place
      EXPECT_THAT(Agent().BindTo("/usr", path, Policy::Access::kReadOnly).Build(),
                  StatusIs(absl::StatusCode::kInvalidArgument));
    }
    EXPECT_THAT(Policy::Agent(path).Build(), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_P(InputTest, AHundredThousandMountsAreTooManyAndSaidToBe) {
  Policy::Builder builder = Agent();
  for (int i = 0; i < 100000; ++i) builder.ReadOnly(absl::StrCat("/usr/", i));
  EXPECT_THAT(builder.Build(), StatusIs(absl::StatusCode::kInvalidArgument));
  std::string text = "{\"paths\":[";
  for (int i = 0; i < 100000; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", "{\"path\":\"/usr/", i,
                    "\",\"access\":\"read-only\"}");
  }
  EXPECT_THAT(Policy::FromText(text + "]}"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(InputTest, NumbersOutOfRangeAreRefused) {
  for (const int64_t value : {int64_t{-2}, INT64_MIN, int64_t{0}}) {
    EXPECT_THAT(Agent().Memory(value).Build(), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(Agent().Pids(value).Build(), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  for (const double value : {-1.0, 0.0, 1e300, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(Agent().Cpus(value).Build(), StatusIs(absl::StatusCode::kInvalidArgument)) << value;
  }
  EXPECT_THAT(Agent().Wall(-absl::Seconds(1)).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(InputTest, NamesThatAreNoneAreRefused) {
  EXPECT_FALSE(Agent().Hostname(std::string(300, 'x')).Build().ok());
  EXPECT_FALSE(Agent().Hostname("a b").Build().ok());
  EXPECT_FALSE(Agent().SocketFamilies({"packet"}).Build().ok());
  for (const char* domain : {"", "*", "*.com", "a..b", "a b", "-a.org", "http://a.org", "a.org:0",
                             "a.org:99999", "1.2.3.4", "[::1]", "*.*.org", "a.org/x"}) {
    EXPECT_FALSE(Agent().AllowDomains({domain}).Build().ok()) << domain;
  }
  EXPECT_FALSE(TierFromName("root").ok());
  for (const char* text : {"", "[]", "null", "{", "{\"version\":2}", "{\"tier\":1}",
                           "{\"dangerous\":[\"seccomp_off\"]}", "{\"paths\":{}}",
                           "{\"limits\":{\"memory\":\"-1\"}}"}) {
    EXPECT_FALSE(Policy::FromText(text).ok()) << text;
  }
}

TEST_P(InputTest, StreamsAndVariablesThatAreNoneAreRefusedAndNothingRuns) {
  ProcessSpec spec;
  spec.command = Command::Shell("touch ran");
  spec.cwd = space_;
  spec.policy = *Agent().Build();
  for (const int fd : {-1, -2147483647, 1 << 30, 9999}) {
    spec.stdin_ = Stdio::Fd(fd);
    EXPECT_THAT(runtime_->Spawn(spec), StatusIs(absl::StatusCode::kInvalidArgument)) << fd;
  }
  spec.stdin_ = Stdio::Null();
  for (const char* key : {"", "A=B", "1A", "A B", "A-B"}) {
    spec.env = Env::Clean();
    spec.env.Set(key, "v");
    EXPECT_THAT(runtime_->Spawn(spec), StatusIs(absl::StatusCode::kInvalidArgument)) << key;
  }
  EXPECT_EQ(Read("ran"), "");
  EXPECT_EQ(access((space_ + "/ran").c_str(), F_OK), -1);
}

// Row 27, of the sandbox.
TEST_P(InputTest, SixtyFourThreadsStartAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  const Policy policy = *Agent().Build();
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      ProcessSpec spec;
      spec.command = Command::Shell(absl::StrCat("exit ", i));
      spec.policy = policy;
      const auto process = runtime_->Spawn(spec);
      if (!process.ok()) return;
      const auto end = (*process)->Wait(absl::Now() + absl::Seconds(60));
      if (end.ok() && end->code == i) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 64);
}

INSTANTIATE_TEST_SUITE_P(Tiers, InputTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
