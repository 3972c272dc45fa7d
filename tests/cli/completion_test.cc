// berth completion: what berth offers, and what real shells make of it when a person presses Tab.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Completion : public CliTest {
 protected:
  std::string Offer(std::vector<std::string> words) {
    words.insert(words.begin(), {"complete", "--"});
    const Result result = Run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  // A shell as a session, with completion loaded and its prompt on the screen.
  void StartShell(const std::vector<std::string>& argv, const std::string& load) {
    std::vector<std::string> args = {"start",  "shell",
                                     "--size", "24x200",
                                     "-e",     absl::StrCat("PATH=", BinFolder(), ":/usr/bin:/bin"),
                                     "-e",     absl::StrCat("BERTH_STATE_DIR=", dir_),
                                     "-e",     absl::StrCat("HOME=", work_),
                                     "-e",     absl::StrCat("XDG_CONFIG_HOME=", work_),
                                     "--"};
    args.insert(args.end(), argv.begin(), argv.end());
    ASSERT_EQ(Run(args).code, 0);
    ASSERT_EQ(Run({"send", "shell", "--await", "written", load}).code, 0);
    // Said by printf, so that the line as it was typed does not have it.
    ASSERT_EQ(Run({"send", "shell", "--await", "written", "printf 'loa%s\\n' ded"}).code, 0);
    ExpectOnScreen("shell", "loaded");
  }
  // What a line becomes by a Tab.
  void Tab(const std::string& typed, const std::string& becomes) {
    ASSERT_EQ(Run({"keys", "shell", "C-u"}).code, 0);
    ASSERT_EQ(Run({"send", "shell", "--no-paste", "--submit", "Tab", "--", typed}).code, 0);
    ExpectOnScreen("shell", becomes);
  }
  void PressTabs() {
    Tab("berth ren", "berth rename");
    Tab("berth wait back", "berth wait backend-one");
    Tab("berth start x --inact", "berth start x --inactivity");
    Tab("berth start x --backend tm", "berth start x --backend tmux");
    Tab("berth start x --backend=do", "berth start x --backend=docker");
    Tab("berth policy che", "berth policy check");
    Tab(absl::StrCat("berth policy check ", work_, "/a-pol"),
        absl::StrCat("berth policy check ", work_, "/a-policy.json"));
  }
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(Run({"start", "backend-one", "--", "cat"}).code, 0);
    ASSERT_EQ(Run({"run", "--cwd", work_, "--", "touch", "a-policy.json"}).code, 0);
  }
};

TEST_F(Completion, OffersCommandsOptionsValuesAndNames) {
  EXPECT_THAT(Offer({"st"}), StartsWith("start\tStart a session"));
  EXPECT_THAT(Offer({""}), Not(HasSubstr("complete\t"))) << "it is for scripts";
  EXPECT_THAT(Offer({"ports", ""}), HasSubstr("lease\t"));
  EXPECT_THAT(Offer({"start", "x", "--ba"}), StartsWith("--backend\t"));
  EXPECT_EQ(Offer({"start", "x", "--backend", "t"}), "tmux\n");
  EXPECT_EQ(Offer({"start", "x", "--backend=t"}), "--backend=tmux\n");
  EXPECT_EQ(Offer({"attach", "b"}), "backend-one\tnative session\n");
  EXPECT_EQ(Offer({"rm", "x", "b"}), "backend-one\tnative session\n");
  EXPECT_EQ(Offer({"attach", "--state-dir", work_ + "/other", "b"}), "");
  EXPECT_EQ(Offer({"policy", "check", ""}), ":file\n");
  EXPECT_EQ(Offer({"run", "--cwd", ""}), ":folder\n");
}

TEST_F(Completion, LeavesTheCommandToTheShell) {
  EXPECT_EQ(Offer({"run", "--", ""}), ":command\n");
  EXPECT_EQ(Offer({"run", "--name", "x", "ma"}), ":command\n");
  EXPECT_EQ(Offer({"run", "make", "--ba"}), ":file\n") << "an option of make, not of berth";
  EXPECT_EQ(Offer({"exec", "backend-one", "--", "ls", ""}), ":file\n");
  EXPECT_EQ(Offer({"send", "backend-one", "he"}), "");
}

TEST_F(Completion, OfWhatMakesNoSenseIsNothing) {
  EXPECT_EQ(Offer({"frobnicate", "x", ""}), "");
  EXPECT_EQ(Offer({"start", "--no-such=x"}), "");
  EXPECT_EQ(Offer({"ls", "a", "b", ""}), "");
  EXPECT_EQ(Offer({}), "");
}

TEST_F(Completion, WorksInBash) {
  StartShell({"bash", "--norc", "--noprofile", "-i"}, "source <(berth completion bash)");
  PressTabs();
}

TEST_F(Completion, WorksInZsh) {
  StartShell({"zsh", "-f", "-i"},
             "autoload -U compinit; compinit -u -D; source <(berth completion zsh)");
  PressTabs();
}

TEST_F(Completion, WorksInFish) {
  StartShell({"fish", "--no-config", "-i"}, "berth completion fish | source");
  PressTabs();
}

TEST_F(Completion, IsForShellsThatItKnows) {
  EXPECT_EQ(Run({"completion", "tcsh"}).code, 2);
  EXPECT_EQ(Run({"completion"}).code, 2);
}

}  // namespace
}  // namespace berth
