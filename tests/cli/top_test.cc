// berth top: in a real terminal, which is a session of another berth, so that what it draws is seen
// as a person would see it.

#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::json;

class TopCommand : public CliTest {
 protected:
  // A berth top as session "top", on sessions in a state directory of their own.
  void StartTop(const std::string& size, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"start", "top", "--size",
                                     size,    "-e",  absl::StrCat("BERTH_STATE_DIR=", Inner())};
    args.insert(args.end(), more.begin(), more.end());
    for (const char* word : {"--", "berth", "top"}) args.push_back(word);
    args[args.size() - 2] = BinFolder() + "/berth";
    ASSERT_EQ(Run(args).code, 0);
  }
  std::string Inner() const { return work_ + "/inner"; }
  Result RunInner(std::vector<std::string> args) {
    args.insert(args.begin() + 1, {"--state-dir", Inner()});
    return Run(args);
  }
  void Keys(const std::vector<std::string>& keys) {
    std::vector<std::string> args = {"keys", "top"};
    args.insert(args.end(), keys.begin(), keys.end());
    ASSERT_EQ(Run(args).code, 0);
  }
  void TearDown() override {
    EXPECT_EQ(Run({"rm", "--all", "--grace", "0"}).code, 0);
    EXPECT_EQ(RunInner({"rm", "--all", "--grace", "0"}).code, 0);
    CliTest::TearDown();
  }
};

TEST_F(TopCommand, ShowsSessionsAtBothSizesWithinTheScreen) {
  ASSERT_EQ(RunInner({"start", "web", "--", "sh", "-c", "echo hello from web; exec cat"}).code, 0);
  ASSERT_EQ(RunInner({"start", "job", "--", "sh", "-c", "echo failed; exit 3"}).code, 0);
  ASSERT_EQ(RunInner({"wait", "job"}).code, 3);
  for (const std::string size : {"24x80", "50x200"}) {
    const auto rows = static_cast<size_t>(std::stoi(size)),
               cols = static_cast<size_t>(std::stoi(size.substr(3)));
    StartTop(size);
    ExpectOnScreen("top", "hello from web");
    const std::string screen = ExpectOnScreen("top", "q quit");
    EXPECT_THAT(screen, HasSubstr("2 sessions, 1 running"));
    EXPECT_THAT(screen, HasSubstr("exit 3"));
    EXPECT_THAT(screen, HasSubstr("failed"));
    const std::vector<std::string> lines = absl::StrSplit(screen, '\n', absl::SkipEmpty());
    EXPECT_LE(lines.size(), rows) << screen;
    for (const std::string& line : lines) EXPECT_LE(line.size(), cols) << line;
    Keys({"q"});
    EXPECT_EQ(Run({"wait", "top"}).code, 0);
    EXPECT_THAT(Run({"capture", "top"}).out, Not(HasSubstr("q quit")))
        << "the screen is given back";
    ASSERT_EQ(Run({"rm", "top"}).code, 0);
  }
}

TEST_F(TopCommand, FollowsItsTerminalsSize) {
  ASSERT_EQ(RunInner({"start", "web", "--", "cat"}).code, 0);
  Berth top = StartInTerminal({"top", "--state-dir", Inner()}, 24, 80);
  top.Expect("q quit");
  top.Resize(30, 30);
  top.Expect("Enter attach …");
  top.Expect("\x1b[?2026l");
  top.Resize(50, 200);
  top.Expect("q quit");
  top.Type("q");
  EXPECT_EQ(top.Wait(), 0);
}

TEST_F(TopCommand, RedrawsWhenASessionEndsByItself) {
  ASSERT_EQ(RunInner({"start", "web", "--", "sh", "-c", "read x; exit 7"}).code, 0);
  StartTop("24x80");
  ExpectOnScreen("top", "running");
  ASSERT_EQ(RunInner({"send", "web", "x"}).code, 0);
  ExpectOnScreen("top", "exit 7");
}

TEST_F(TopCommand, SendsToAndEndsAndRemovesTheChosenOne) {
  ASSERT_EQ(RunInner({"start", "a", "--", "sh", "-c", "exec cat"}).code, 0);
  ASSERT_EQ(RunInner({"start", "b", "--", "sh", "-c", "read x; echo got $x; exec cat"}).code, 0);
  StartTop("24x80");
  ExpectOnScreen("top", "2 sessions");
  Keys({"Down", "s"});
  ExpectOnScreen("top", "send to b:");
  Keys({"w", "o", "x", "BSpace", "r", "d", "Enter"});
  ExpectOnScreen("top", "got word");
  Keys({"K"});
  ExpectOnScreen("top", "end b? y/n");
  Keys({"n"});
  ExpectOnScreen("top", "q quit");
  Keys({"K", "y"});
  ExpectOnScreen("top", "b has ended");
  EXPECT_EQ(RunInner({"wait", "b"}).code, 143);
  Keys({"D", "y"});
  ExpectOnScreen("top", "1 session,");
  EXPECT_EQ(RunInner({"wait", "b"}).code, 125);
  EXPECT_EQ(Json::parse(RunInner({"ls", "--json"}).out)[0]["name"], "a");
}

TEST_F(TopCommand, AttachesAndComesBack) {
  ASSERT_EQ(RunInner({"start", "web", "--", "sh", "-c", "read x; echo got $x; exec cat"}).code, 0);
  StartTop("24x80");
  ExpectOnScreen("top", "1 session,");
  Keys({"Enter"});
  ASSERT_EQ(Run({"send", "top", "--no-paste", "hello"}).code, 0);
  EXPECT_THAT(ExpectOnScreen("top", "got hello"), Not(HasSubstr("q quit")));
  Keys({"C-]"});
  ExpectOnScreen("top", "q quit");
}

TEST_F(TopCommand, UsesNoColourWithNoColor) {
  ASSERT_EQ(RunInner({"start", "web", "--", "cat"}).code, 0);
  env_.push_back("NO_COLOR=1");
  Berth top = StartInTerminal({"top", "--state-dir", Inner()});
  const std::string seen = top.Expect("q quit");
  EXPECT_THAT(seen, Not(HasSubstr("\x1b[32m")));
  EXPECT_THAT(seen, Not(HasSubstr("\x1b[7m")));
  EXPECT_THAT(seen, HasSubstr(">web"));
  top.Type("q");
  EXPECT_EQ(top.Wait(), 0);
}

TEST_F(TopCommand, GivesTheTerminalBackHoweverItEnds) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Berth top = StartInTerminal({"top"});
    top.Expect("No sessions");
    top.Signal(signal);
    top.Expect("\x1b[?1049l");
    EXPECT_EQ(top.Wait(), 128 + signal);
  }
  Berth top = StartInTerminal({"top"});
  top.Expect("No sessions");
  top.Type("\x03");
  EXPECT_EQ(top.Wait(), 130);
}

TEST_F(TopCommand, IsForTerminalsAndAsJsonForPrograms) {
  ASSERT_EQ(RunInner({"start", "web", "--", "sh", "-c", "echo hello; exec cat"}).code, 0);
  const Result piped = RunInner({"top"});
  EXPECT_EQ(piped.code, 125);
  EXPECT_THAT(piped.err, HasSubstr("--json"));
  const Json json = Json::parse(RunInner({"top", "--json"}).out);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["session"]["name"], "web");
  EXPECT_TRUE(json[0].contains("memory_bytes"));
  EXPECT_TRUE(json[0].contains("last_line"));
}

}  // namespace
}  // namespace berth
