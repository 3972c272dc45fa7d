// berth attach: several people at a session, each in a real terminal.

#include <signal.h>
#include <termios.h>

#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

using Attach = CliTest;

constexpr absl::string_view kSizes =
    "trap 'stty size' WINCH; echo ready; while :; do read line && echo \"got $line\"; done";

TEST_F(Attach, TwoPeopleSeeTheSameTypeResizeAndLeave) {
  ASSERT_EQ(Run({"start", "pair", "--shell", std::string(kSizes)}).code, 0);
  Berth small = StartInTerminal({"attach", "pair"}, 24, 80);
  small.Expect("ready");
  Berth large = StartInTerminal({"attach", "pair"}, 50, 200);
  large.Expect("ready");
  small.Type("hello\r");
  small.Expect("got hello");
  large.Expect("got hello");
  EXPECT_THAT(Run({"ls", "--json"}).out, HasSubstr("\"attached\": 2"));

  large.Resize(40, 120);
  // The shell runs its trap when the read that was interrupted by it has a line, or at once.
  large.Type("resized\r");
  large.Expect("40 120");
  small.Expect("40 120");

  small.Type("\x1d");  // Ctrl-]
  small.Expect("[detached from pair");
  EXPECT_EQ(small.Wait(), 0);
  large.Type("alone\r");
  large.Expect("got alone");

  EXPECT_EQ(Run({"kill", "pair"}).code, 0);
  large.Expect("[pair killed by signal 15");
  EXPECT_EQ(large.Wait(), 143);
}

TEST_F(Attach, ComesBackToTheScreenAsItIs) {
  ASSERT_EQ(Run({"start", "one", "--shell", "echo first; read x; echo $x second; exit 3"}).code, 0);
  for (int i = 0; i < 3; ++i) {
    Berth berth = StartInTerminal({"attach", "one"});
    berth.Expect("first");
    berth.Type("\x1d");
    EXPECT_EQ(berth.Wait(), 0);
  }
  Berth berth = StartInTerminal({"attach", "one"});
  berth.Expect("first");
  berth.Type("the\r");
  berth.Expect("the second");
  berth.Expect("[one exited with code 3]");
  EXPECT_EQ(berth.Wait(), 3);
}

TEST_F(Attach, TakesAnotherDetachKeyAlsoAsKittySendsIt) {
  ASSERT_EQ(Run({"start", "one", "--", "cat"}).code, 0);
  Berth berth = StartInTerminal({"attach", "one", "--detach-key", "C-q"});
  berth.Type("\x1dtyped\r");
  berth.Expect("typed");
  berth.Type("\x1b[113;5u");
  EXPECT_EQ(berth.Wait(), 0);
  EXPECT_EQ(Run({"attach", "one", "--detach-key", "q"}).code, 2);
}

TEST_F(Attach, RestoresTheTerminalWhenItIsTerminated) {
  ASSERT_EQ(
      Run({"start", "one", "--shell", "printf '\\033[?1049h\\033[?25l'; echo ready; sleep 1000"})
          .code,
      0);
  Berth berth = StartInTerminal({"attach", "one"});
  berth.Expect("ready");
  berth.Signal(SIGTERM);
  berth.Expect("\x1b[?1049l");
  berth.Expect("\x1b[?25h");
  berth.Expect("[detached from one");
  EXPECT_EQ(berth.Wait(), 143);
  termios after;
  ASSERT_EQ(tcgetattr(berth.in.get(), &after), 0);
  EXPECT_NE(after.c_lflag & ICANON, 0u);
}

TEST_F(Attach, NeedsATerminalOnBothSides) {
  ASSERT_EQ(Run({"start", "one", "--pipes", "--", "cat"}).code, 0);
  const Result piped = Run({"attach", "one"});
  EXPECT_EQ(piped.code, 125);
  EXPECT_THAT(piped.err, HasSubstr("must be a terminal"));
  Berth berth = StartInTerminal({"attach", "one"});
  berth.Expect("pipes and no terminal");
  EXPECT_EQ(berth.Wait(), 125);
}

TEST_F(Attach, WorksOnARunThatHasAName) {
  Berth run = StartInTerminal(
      {"run", "--name", "shared", "--", "sh", "-c", "echo ready; read x; echo got $x"});
  run.Expect("ready");
  Berth other = StartInTerminal({"attach", "shared"});
  other.Expect("ready");
  other.Type("both\r");
  run.Expect("got both");
  EXPECT_EQ(run.Wait(), 0);
  other.Rest();
  other.Wait();
}

}  // namespace
}  // namespace berth
