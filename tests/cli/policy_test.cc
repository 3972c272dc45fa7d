// berth policy, berth doctor, and commands under a policy.

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

using PolicyCommand = CliTest;
using DoctorCommand = CliTest;

class RunUnderPolicy : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::filesystem::create_directories(work_ + "/ws/.git/hooks");
    std::ofstream(work_ + "/secret") << "secret";
  }
  Result Agent(const std::string& line) {
    return Run({"run", "--preset", "agent", "--cwd", work_ + "/ws", "--shell", line});
  }
};

TEST_F(PolicyCommand, ShowPrintsWhatThePolicyOptionReads) {
  const Result shown = Run({"policy", "show", "--preset", "agent", "--net",
                            "allow:github.com,*.npmjs.org", "--mem", "2G", "--pids", "64"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const Json json = Json::parse(shown.out, nullptr, false);
  EXPECT_EQ(json["limits"]["memory"], int64_t{2} << 30);
  EXPECT_EQ(json["network"]["allow"], (Json{"github.com", "*.npmjs.org"}));
  std::ofstream(work_ + "/p.json") << shown.out;
  EXPECT_EQ(Run({"policy", "show", "--policy", work_ + "/p.json"}).out, shown.out);
}

TEST_F(PolicyCommand, CheckNamesWhatIsWrong) {
  std::ofstream(work_ + "/p.json") << R"({"netwrok": "none"})";
  const Result wrong = Run({"policy", "check", work_ + "/p.json"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("'netwrok': it is not known"));
  std::ofstream(work_ + "/q.json")
      << R"({"system": true, "tmpfs": ["/tmp"], "paths": [{"path": "/no/such", "access": "read-only"}]})";
  EXPECT_THAT(Run({"policy", "check", work_ + "/q.json"}).err, HasSubstr("'/no/such'"));
  EXPECT_EQ(Run({"policy", "check", work_ + "/none.json"}).code, 125);
}

TEST_F(PolicyCommand, CheckTellsTheTier) {
  std::ofstream(work_ + "/p.json") << R"({"preset": "strict", "tier": "namespaces"})";
  const Result checked = Run({"policy", "check", "--json", work_ + "/p.json"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(Json::parse(checked.out, nullptr, false)["tier"], "namespaces");
}

TEST_F(DoctorCommand, SaysOfEachThingWhatItIsOrWhatToDo) {
  const Result doctor = Run({"doctor", "--json"});
  const Json json = Json::parse(doctor.out, nullptr, false);
  ASSERT_GE(json["checks"].size(), 20u) << doctor.out;
  for (const Json& check : json["checks"]) {
    EXPECT_NE(check[check["state"] == "ok" ? "detail" : "remedy"], "") << check;
  }
  const Result table = Run({"doctor"});
  EXPECT_THAT(table.out, HasSubstr("user namespaces"));
  EXPECT_THAT(table.out, HasSubstr("landlock"));
}

TEST_F(RunUnderPolicy, OptionsThatMakeNoSenseAreUsageErrors) {
  EXPECT_EQ(Run({"run", "--preset", "lax", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--net", "some", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--net", "allow:1.2.3.4", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--mem", "lots", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--preset", "agent", "--pids", "-3", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--preset", "agent", "--policy", "x", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "--preset", "agent", "--cwd", "/", "--", "true"}).code, 2);
}

TEST_F(RunUnderPolicy, WritesInItsWorkspaceAndNowhereElse) {
  const Result result =
      Agent("echo hello >file; cat file; echo x >/usr/x; echo x >/tmp/x; ls /tmp");
  EXPECT_THAT(result.out, HasSubstr("hello\n"));
  EXPECT_THAT(result.out, HasSubstr("x\n"));
  EXPECT_TRUE(std::filesystem::exists(work_ + "/ws/file"));
  EXPECT_FALSE(std::filesystem::exists("/usr/x"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/x"));
}

TEST_F(RunUnderPolicy, CannotReadOtherFilesOrWriteHooks) {
  const Result result = Agent(
      absl::StrCat("cat ", work_,
                   "/secret; cat /etc/shadow; echo x >.git/hooks/post-commit; echo x >.mcp.json; "
                   "mv .git .gone; true"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("secret")));
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(std::filesystem::exists(work_ + "/ws/.git/hooks/post-commit"));
  EXPECT_FALSE(std::filesystem::exists(work_ + "/ws/.mcp.json"));
  EXPECT_TRUE(std::filesystem::exists(work_ + "/ws/.git"));
}

TEST_F(RunUnderPolicy, SeesWhatIsListedBesides) {
  EXPECT_EQ(Run({"run", "--preset", "agent", "--cwd", work_ + "/ws", "--ro", work_ + "/secret",
                 "--", "cat", work_ + "/secret"})
                .out,
            "secret");
}

// In a user namespace that can have no others, as on a machine whose administrator forbids them.
class RunWithoutNamespaces : public RunUnderPolicy {
 protected:
  Result RunThere(absl::string_view options) {
    return Run({"run", "--shell",
                absl::StrCat("unshare --user --map-root-user sh -c 'echo 0 "
                             ">/proc/sys/user/max_user_namespaces && exec env ",
                             Quoted(), " run --cwd ", work_, "/ws ", options, "'")});
  }
};

TEST_F(RunWithoutNamespaces, IsRefusedWithTheRemedy) {
  for (const char* options : {"", "--tier namespaces", "--tier pooled"}) {
    const Result refused = RunThere(absl::StrCat("--preset agent ", options, " -- echo ran"));
    EXPECT_EQ(refused.code, 125) << options;
    EXPECT_EQ(refused.out, "") << options;
    EXPECT_THAT(refused.err, HasSubstr("user.max_user_namespaces is 0. Remedy: sysctl -w"));
  }
}

TEST_F(RunWithoutNamespaces, RunsByTheTierThatNeedsNone) {
  const Result asked = RunThere("--preset agent --tier landlock -- echo ran");
  EXPECT_EQ(asked.out, "ran\n") << asked.err;
  // Not asked for, but all of the policy is held.
  std::ofstream(work_ + "/p.json") << R"({"system": true, "dangerous": ["host_pid_namespace"]})";
  const Result held = RunThere(absl::StrCat("--policy ", work_, "/p.json -- echo ran"));
  EXPECT_EQ(held.out, "ran\n") << held.err;
}

TEST_F(RunWithoutNamespaces, TellsOfAProgramThatThereIsNoneOf) {
  const Result none = RunThere("--preset agent --tier landlock -- no-such-program");
  EXPECT_EQ(none.code, 127);
  EXPECT_THAT(none.err, HasSubstr("'no-such-program'"));
}

TEST_F(RunUnderPolicy, HasNoEnvironmentButWhatItIsGiven) {
  env_.push_back("SECRET=s");
  EXPECT_EQ(Agent("echo ${SECRET-none}").out, "none\n");
}

}  // namespace
}  // namespace berth
