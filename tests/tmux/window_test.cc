// What a person finds in tmux.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/record/identity.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "tests/tmux/tmux_test_base.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Window = TmuxTest;

// The pane of a session that has ended, once tmux knows it.
constexpr char kDead[] = "#{pane_dead} #{pane_dead_status}/#{pane_dead_signal}";

TEST_F(Window, OfASessionThatEndedTellsItsOwnCodeOrSignal) {
  const auto code = Start("code", "read x; exit 37");
  const auto signal = Start("signal", "read x; kill -USR1 $$");
  ASSERT_TRUE(code != nullptr && signal != nullptr);
  for (Session* session : {code.get(), signal.get()}) {
    Tmux({"set-hook", "-g", "pane-died", absl::StrCat("wait-for -S ", SessionName(*session))});
    ASSERT_THAT(session->Send({.text = "go"}), IsOk());
    ASSERT_THAT(session->Wait(Soon()), IsOk());
    Tmux({"wait-for", SessionName(*session)});
  }
  EXPECT_EQ(Tmux(*code, {"display-message", "-p", kDead}), "1 37/");
  EXPECT_EQ(Tmux(*signal, {"display-message", "-p", kDead}), "1 /10");
}

TEST_F(Window, TakesWhatIsTypedThere) {
  const auto session = Start("typed", "echo up; read x; echo \"<$x>\"; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  Tmux(*session, {"send-keys", "hello there", "Enter"});
  EXPECT_THAT(Until(*session, "<hello there>"), HasSubstr("<hello there>"));
}

TEST_F(Window, GivesTheProgramItsSize) {
  const auto session =
      Start("sized", "trap 'stty size' WINCH; echo up; while :; do sleep 1000 & wait; done");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{pane_width}x#{pane_height}"}), "80x24");
  Tmux(*session, {"resize-window", "-x", "100", "-y", "30"});
  EXPECT_THAT(Until(*session, "30 100"), HasSubstr("30 100"));
  ASSERT_THAT(session->Resize({.rows = 40, .cols = 120}), IsOk());
  EXPECT_THAT(Until(*session, "40 120"), HasSubstr("40 120"));
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{window_width}x#{window_height}"}),
            "120x40");
}

TEST_F(Window, ThatIsClosedEndsItsSessionAndEverythingInIt) {
  const auto session = Start("closed", "setsid sleep 1234 & echo up; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  Tmux(*session, {"send-keys", "shown", "Enter"});
  Until(*session, "shown");  // by a window that stands
  Tmux({"kill-session", "-t", absl::StrCat("=", SessionName(*session))});
  auto end = session->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kStopped);
}

// As a person would who is faster than any program: the window goes as soon as it is there.
constexpr char kCloseAtOnce[] = "run-shell -C \"kill-session -t =#{hook_session_name}\"";

TEST_F(Window, ThatIsClosedInItsFirstMillisecondsEndsItsSession) {
  const auto first = Start("first", "exec cat");
  ASSERT_NE(first, nullptr);
  Tmux({"set-hook", "-g", "session-created", kCloseAtOnce});
  int refused = 0, ended = 0;
  for (int i = 0; i < 20; ++i) {
    auto session = runtime_->CreateSession(
        {.name = "closed", .backend = "tmux", .command = Command::Argv({"cat"})});
    if (session.ok()) {  // its window was closed once it had been shown there
      auto end = (*session)->Wait(Soon());
      ASSERT_THAT(end, IsOk());
      EXPECT_EQ(end->reason, EndReason::kStopped);
      EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
      ++ended;
    } else {
      EXPECT_THAT(session, StatusIs(absl::StatusCode::kAborted, HasSubstr("window was closed")));
      EXPECT_THAT(runtime_->Find("closed"), StatusIs(absl::StatusCode::kNotFound));
      ++refused;
    }
  }
  RecordProperty("refused", refused);
  RecordProperty("ended", ended);
  Tmux({"set-hook", "-gu", "session-created"});
  EXPECT_EQ(first->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Window, ThatIsShownAgainAndClosedAtOnceEndsItsSession) {
  const auto session = Start("closed", "echo up; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  const UniqueFd server = ServerProcess();
  Signal(server, SIGKILL);
  AwaitEnd(server);
  const auto other = Start("other", "exec cat");  // and with it a server
  ASSERT_NE(other, nullptr);
  Tmux({"set-hook", "-g", "session-created", kCloseAtOnce});
  session->CheckLiveness();  // shows it
  Tmux({"set-hook", "-gu", "session-created"});
  session->CheckLiveness();  // finds that somebody closed it
  auto end = session->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kStopped);
  EXPECT_EQ(other->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Window, ThatWasClosedDoesNotComeBackWhileItsProgramTakesItsTime) {
  const auto session = Start("slow", "trap '' TERM HUP; echo up; while :; do sleep 1000; done",
                             {.grace = absl::Minutes(10)});
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  Tmux({"kill-session", "-t", absl::StrCat("=", SessionName(*session))});
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_THAT(session->Info(), IsOk());
  EXPECT_THAT(runtime_->List(), IsOk());
  EXPECT_THAT(Tmux({"list-sessions"}), Not(HasSubstr(SessionName(*session))));
  EXPECT_EQ(session->Info()->state, SessionState::kRunning);
}

TEST_F(Window, WhoseProgramIsKilledIsShownAgainAndTheSessionGoesOn) {
  const auto session = Start("shown", "echo up; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "up");
  pid_t pid = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Tmux(*session, {"display-message", "-p", "#{pane_pid}"}), &pid));
  Tmux({"set-hook", "-g", "pane-died", "wait-for -S died"});
  Signal(UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), SIGKILL);
  Tmux({"wait-for", "died"});
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{pane_dead}"}), "1");
  ASSERT_THAT(session->Info(), IsOk());
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{pane_dead}"}), "0");
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Window, OfTheNextServerHasTheSameHistory) {
  const auto session = Start("named", "exec cat", {.scrollback_lines = 4321});
  ASSERT_NE(session, nullptr);
  const UniqueFd server = ServerProcess();
  Signal(server, SIGKILL);
  AwaitEnd(server);
  const auto other = Start("other", "exec cat");
  ASSERT_NE(other, nullptr);
  ASSERT_THAT(runtime_->List(), IsOk());
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{history_limit} #{window_name}"}),
            "4321 named");
}

TEST_F(Window, HasTheHistoryThatWasAskedForAndTheSessionsName) {
  const auto session = Start("named", "exec cat", {.scrollback_lines = 4321});
  const auto other = Start("other", "exec cat", {.scrollback_lines = 12});
  ASSERT_TRUE(session != nullptr && other != nullptr);
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{history_limit} #{window_name}"}),
            "4321 named");
  EXPECT_EQ(Tmux(*other, {"display-message", "-p", "#{history_limit} #{window_name}"}), "12 other");
  ASSERT_THAT(session->Rename("renamed"), IsOk());
  EXPECT_EQ(Tmux(*session, {"display-message", "-p", "#{window_name}"}), "renamed");
  EXPECT_THAT(session->AttachCommand(), Contains(absl::StrCat("=", SessionName(*session))));
}

TEST_F(Window, KnowsNothingOfTheSessionsEnvironment) {
  Env env = Env::Basic();
  env.Set("SECRET", "s3cret-that-nobody-may-see");
  const auto session = Start("secret", "echo $SECRET; exec cat", {.env = env});
  ASSERT_NE(session, nullptr);
  Until(*session, "s3cret-that-nobody-may-see");
  EXPECT_THAT(Tmux({"show-environment", "-g"}), Not(HasSubstr("s3cret")));
  EXPECT_THAT(Tmux(*session, {"show-environment"}), Not(HasSubstr("s3cret")));
  EXPECT_THAT(Tmux(*session, {"display-message", "-p", "#{pane_start_command}"}),
              Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace berth
