// What orchestrators do with tmux today, by berth: each operation on a real server, beside one of
// the user's own that nothing of it may touch.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/process.h"
#include "runtime/record/identity.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tests/tmux/tmux_test_base.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Operations : public TmuxTest {
 protected:
  // The user's own server, with a session of the same name as ours has.
  void SetUp() override {
    TmuxTest::SetUp();
    Own({"new-session", "-d", "-s", "agent", "cat"});
    own_before_ = Own({"list-sessions"});
    ASSERT_THAT(own_before_, HasSubstr("agent"));
  }
  void TearDown() override {
    EXPECT_EQ(Own({"list-sessions"}), own_before_);
    Own({"kill-server"});
    TmuxTest::TearDown();
  }
  // Not by Spawn, with which a server would end again.
  std::string Own(std::vector<std::string> words) {
    words.insert(words.begin(), {"tmux", "-f", "/dev/null", "-S", work_ + "/own"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string said = work_ + "/said";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
    return FileText(said);
  }

 private:
  std::string own_before_;
};

TEST_F(Operations, HasCreateKill) {
  EXPECT_THAT(runtime_->Find("agent"), StatusIs(absl::StatusCode::kNotFound));
  const auto session = Start("agent", "exec cat");
  ASSERT_NE(session, nullptr);
  auto found = runtime_->Find("agent");
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->CheckLiveness().liveness, Liveness::kAlive);
  ASSERT_THAT((*found)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_THAT(runtime_->Find("agent"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
}

TEST_F(Operations, CreatePlainIsAShellInItsFolder) {
  auto session = runtime_->CreateSession(
      {.name = "agent", .backend = "tmux", .command = Command::Argv({"/bin/sh"}), .cwd = work_});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Send({.text = "echo in $(pwd)"}), IsOk());
  Until(**session, "in " + std::filesystem::canonical(work_).string());
}

TEST_F(Operations, CreateWithACommandAndVariables) {
  Env env = Env::Basic();
  env.Set("TASK", "two words; $(id) \"and\" 'quotes'");
  const auto session = Start("agent", "printf '<%s>\\n' \"$TASK\"; exec cat", {.env = env});
  ASSERT_NE(session, nullptr);
  Until(*session, "<two words; $(id) \"and\" 'quotes'>");
}

TEST_F(Operations, RenameAndTheFullName) {
  const auto session = Start("agent", "exec cat");
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->Rename("reviewer"), IsOk());
  EXPECT_THAT(runtime_->Find("agent"), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_THAT(runtime_->Find("reviewer"), IsOk());
  // The name with its prefix stays, so that nothing that is attached or addressed is lost.
  EXPECT_THAT(Tmux({"list-sessions", "-F", "#{session_name} #{window_name}"}),
              HasSubstr(SessionName(*session) + " reviewer"));
}

TEST_F(Operations, SendWithASubmitKeyAnotherOrNone) {
  const auto session =
      Start("agent", "stty raw -echo; echo ready; head -c 11 | od -An -c; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  EXPECT_THAT(session->Send({.text = "one"}), IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_THAT(session->Send({.text = "two", .submit = "C-d"}), IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_THAT(session->Send({.text = "abc", .submit = ""}), IsOkAndHolds(Delivery::kWritten));
  EXPECT_THAT(Until(*session, "c\n"), HasSubstr("o   n   e  \\r   t   w   o 004   a   b   c"));
}

TEST_F(Operations, CaptureSoManyLinesWithAndWithoutColour) {
  const auto session = Start(
      "agent", "for i in 1 2 3 4 5; do echo line $i; done; printf '\\033[31mred\\033[0m'; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "red");
  EXPECT_THAT(session->Capture({.lines = 2}), IsOkAndHolds("line 5\nred\n"));
  auto coloured = session->Capture({.lines = 1, .colour = true});
  ASSERT_THAT(coloured, IsOk());
  EXPECT_THAT(*coloured, HasSubstr("31mred"));
}

TEST_F(Operations, ListTellsNameStateFolderAndWhoLooks) {
  const auto one = Start("one", "exec cat", {.cwd = "/usr"});
  const auto two = Start("two", "exit 3");
  ASSERT_TRUE(one != nullptr && two != nullptr);
  ASSERT_THAT(two->Wait(Soon()), IsOk());
  auto list = runtime_->List();
  ASSERT_THAT(list, IsOk());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].name, "one");
  EXPECT_EQ((*list)[0].state, SessionState::kRunning);
  EXPECT_EQ((*list)[0].cwd, "/usr");
  EXPECT_EQ((*list)[0].attached, 0);
  EXPECT_EQ((*list)[0].backend, "tmux");
  EXPECT_EQ((*list)[1].name, "two");
  EXPECT_EQ((*list)[1].state, SessionState::kExited);
  EXPECT_EQ((*list)[1].exit.code, 3);
}

TEST_F(Operations, TheAttachCommandShowsTheSessionAndTakesWhatIsTyped) {
  const auto session = Start("agent", "echo hello from here; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "hello from here");
  Env env = Env::Basic();
  env.Set("TERM", "xterm-256color");
  env.Set("TMUX", "/somewhere/else,1,0");  // as of a person who sits in a tmux of their own
  auto person = runtime_->Spawn(
      {.command = Command::Argv(session->AttachCommand()), .env = env, .pty = true});
  ASSERT_THAT(person, IsOk());
  auto screen = (*person)->TakeStdout();
  auto keys = (*person)->TakeStdin();
  ASSERT_TRUE(screen.ok() && keys.ok());
  ReadUntil(screen->get(), "hello from here");
  EXPECT_EQ((*runtime_->List())[0].attached, 1);
  EXPECT_EQ(session->Info()->attached, 1);
  ASSERT_EQ(write(keys->get(), "typed\r", 6), 6);
  Until(*session, "typed\r\ntyped");
  Tmux({"detach-client", "-s", absl::StrCat("=", SessionName(*session))});
  auto left = (*person)->Wait(Soon());
  ASSERT_THAT(left, IsOk());
  EXPECT_TRUE(left->success());
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Operations, TheServerThatIsEndedIsOursOnly) {
  const auto one = Start("one", "exec cat");
  const auto two = Start("two", "exec cat");
  ASSERT_TRUE(one != nullptr && two != nullptr);
  const UniqueFd server = ServerProcess();
  ASSERT_THAT(one->Destroy(absl::ZeroDuration()), IsOk());
  ASSERT_THAT(two->Destroy(absl::ZeroDuration()), IsOk());
  runtime_.reset();  // who is connected holds it
  AwaitEnd(server);
  runtime_ = OtherRuntime();  // and the user's is as it was: see TearDown
}

TEST_F(Operations, WhetherItRunsIsToldWithoutASession) {
  EXPECT_THAT(runtime_->Choose({.name = "x", .backend = "tmux"}), IsOk());
  EXPECT_THAT(Own({"list-sessions"}), Not(HasSubstr("hold-")));
}

TEST_F(Operations, VariablesSetLaterAreForWhatIsStartedLater) {
  const auto session = Start("agent", "exec cat");
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->SetEnvironment("LATER", "yes"), IsOk());
  auto process = session->Exec({.command = Command::Shell("echo $LATER")});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  EXPECT_EQ(ReadAll(out->get()), "yes\n");
  EXPECT_THAT(Tmux({"show-environment", "-g"}), Not(HasSubstr("LATER")));
}

TEST_F(Operations, ALogIsStartedMovedAndEndedWhileItRuns) {
  const auto session = Start("agent", "while read line; do echo \"got $line\"; done");
  ASSERT_NE(session, nullptr);
  const auto say = [&](const std::string& word) {
    ASSERT_THAT(session->Send({.text = word}), IsOk());
    Until(*session, "got " + word);
  };
  say("before");
  ASSERT_THAT(session->SetLog(work_ + "/log", 1 << 20), IsOk());
  say("one");
  ASSERT_THAT(session->SetLog(work_ + "/other", 1 << 20), IsOk());
  say("two");
  ASSERT_THAT(session->SetLog("", 0), IsOk());
  say("after");
  EXPECT_EQ(FileText(work_ + "/log"), "one\r\ngot one\r\n");
  EXPECT_EQ(FileText(work_ + "/other"), "two\r\ngot two\r\n");
}

}  // namespace
}  // namespace berth
