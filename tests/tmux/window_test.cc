// What a person finds in tmux.
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tests/tmux/tmux_test_base.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
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
