#include "runtime/nix/dev_env.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ParseDevEnv, KeepsWhatIsExportedAndDropsWhatIsTheBuilders) {
  auto env = ParseDevEnv(R"({"variables":{
      "PATH":{"type":"exported","value":"/store/bin"}, "MY":{"type":"exported","value":"it's"},
      "HOME":{"type":"exported","value":"/homeless-shelter"},
      "TMPDIR":{"type":"exported","value":"/build"}, "outputs":{"type":"exported","value":"out dev"},
      "out":{"type":"exported","value":"/store/x"}, "dev":{"type":"exported","value":"/store/y"},
      "builder":{"type":"exported","value":"/bin/bash"}, "IFS":{"type":"var","value":" "}}})");
  ASSERT_THAT(env, IsOk());
  EXPECT_THAT(env->variables, ElementsAre(Pair("MY", "it's"), Pair("PATH", "/store/bin")));
  EXPECT_EQ(env->hook, "");
}

TEST(ParseDevEnv, AHookComesWithAllThatIsNotExported) {
  auto env = ParseDevEnv(R"({"bashFunctions":{"greet":"  echo hello"},"variables":{
      "list":{"type":"array","value":["a b","it's"]}, "map":{"type":"associative","value":{"k":"v"}},
      "plain":{"type":"var","value":"x"}, "LINENO":{"type":"var","value":"7"},
      "shellHook":{"type":"exported","value":"greet"}}})");
  ASSERT_THAT(env, IsOk());
  EXPECT_THAT(env->hook,
              AllOf(HasSubstr("declare -a list=( 'a b' 'it'\\''s')\n"),
                    HasSubstr("declare -A map=( ['k']='v')\n"), HasSubstr("plain='x'\n"),
                    HasSubstr("greet ()\n{\n  echo hello\n}\n"),
                    HasSubstr("eval 'greet'\nexec \"$@\"\n"), testing::Not(HasSubstr("LINENO"))));
}

TEST(ParseDevEnv, StandsOnWhatIsInheritedAndUnderWhatIsSet) {
  DevEnv shell;
  shell.variables = {{"PATH", "/store/bin"}, {"MY", "of the shell"}, {"OTHER", "of the shell"}};
  const char* host[] = {"PATH=/usr/bin", "MY=of the host", "HOME=/root", nullptr};
  Env env = Env::Inherit();
  env.Set("MY", "of the caller");
  env.Beneath(shell.ToEnv());
  auto resolved = env.Resolve(host);
  ASSERT_THAT(resolved, IsOk());
  EXPECT_THAT(*resolved, ElementsAre("PATH=/store/bin:/usr/bin", "MY=of the caller", "HOME=/root",
                                     "OTHER=of the shell"));
}

TEST(ParseDevEnv, RefusesWhatIsNotWhatNixPrints) {
  for (const char* json : {"", "[]", "{}", R"({"variables":[]})", R"({"variables":{"A":1}})",
                           R"({"variables":{"A":{"type":"exported"}}})",
                           R"({"variables":{"A":{"type":"exported","value":[]}}})",
                           R"({"variables":{"A B":{"type":"exported","value":""}}})",
                           R"({"variables":{"A":{"type":"array","value":[1]}}})",
                           R"({"variables":{"A":{"type":"new kind","value":""}}})",
                           R"({"variables":{"A":{"type":"exported","value":"\u0000"}}})"}) {
    EXPECT_THAT(ParseDevEnv(json), StatusIs(absl::StatusCode::kInvalidArgument)) << json;
  }
}

}  // namespace
}  // namespace berth
