// berth run and berth exec: streams byte for byte, codes, signals, limits, terminals.

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

using RunCommand = CliTest;
using RunNamed = CliTest;
using RunInTerminal = CliTest;
using ExecCommand = CliTest;

// Every byte value, many times over.
std::string AllBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

TEST_F(RunCommand, PassesOutputErrorAndCodeThrough) {
  const Result result = Run({"run", "--", "sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST_F(RunCommand, Carries200KilobytesOfAnyBytesThroughStdin) {
  const std::string bytes = AllBytes(200 << 10);
  const Result result = Run({"run", "--", "cat"}, bytes);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.size(), bytes.size());
  EXPECT_TRUE(result.out == bytes);
}

TEST_F(RunCommand, HandsArgumentsOnAsTheyAre) {
  const Result result =
      Run({"run", "--", "printf", "%s|", "", " a b ", "[x,y]", "--json", "--", "-h", "$HOME"});
  EXPECT_EQ(result.out, "| a b |[x,y]|--json|--|-h|$HOME|");
}

TEST_F(RunCommand, NeedsNoSeparatorBeforeACommand) {
  EXPECT_EQ(Run({"run", "echo", "-n", "--tty", "[a]", "-h"}).out, "--tty [a] -h");
}

TEST_F(RunCommand, TellsADeathBySignalAs128AndItsNumber) {
  EXPECT_EQ(Run({"run", "--", "sh", "-c", "kill -9 $$"}).code, 137);
  EXPECT_EQ(Run({"run", "--", "sh", "-c", "kill -TERM $$"}).code, 143);
}

TEST_F(RunCommand, SaysWhyACommandCannotBeRun) {
  const Result missing = Run({"run", "--", "no-such-program"});
  EXPECT_EQ(missing.code, 127);
  EXPECT_THAT(missing.err, HasSubstr("berth: run: execute 'no-such-program'"));
  EXPECT_EQ(Run({"run", "--", "/etc/passwd"}).code, 126);
  EXPECT_EQ(Run({"run", "--cwd", "/no/such/place", "--", "true"}).code, 125);
  EXPECT_EQ(Run({"run"}).code, 2);
  EXPECT_EQ(Run({"run", "--wall", "soon", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"run", "-e", "1X=2", "--", "true"}).code, 2);
}

TEST_F(RunCommand, GivesTheEnvironmentThatIsAskedFor) {
  env_.push_back("SECRET=s e c");
  EXPECT_EQ(Run({"run", "--", "sh", "-c", "echo ${SECRET-none}"}).out, "none\n");
  EXPECT_EQ(Run({"run", "-e", "SECRET", "-e", "A=b=c", "-e", "NOT_HERE", "--", "sh", "-c",
                 "echo $SECRET,$A,${NOT_HERE-none}"})
                .out,
            "s e c,b=c,none\n");
  EXPECT_EQ(Run({"run", "--env", "inherit", "--", "sh", "-c", "echo $SECRET"}).out, "s e c\n");
  EXPECT_EQ(Run({"run", "--env", "clean", "--", "/usr/bin/env"}).out, "");
}

TEST_F(RunCommand, RunsAShellLineInADirectory) {
  EXPECT_EQ(Run({"run", "--cwd", "/", "--shell", "pwd | tr / x"}).out, "x\n");
}

TEST_F(RunCommand, UnderAPolicyGitAddsWhatTheCommandMadeAndNoPlaceholder) {
  const std::string space = work_ + "/space";
  ASSERT_EQ(mkdir(space.c_str(), 0755), 0);
  ASSERT_EQ(Run({"run", "--cwd", space, "--", "git", "init", "-q"}).code, 0);
  const Result result = Run(
      {"run", "--preset", "agent", "--cwd", space, "--", "sh", "-c",
       "echo made >made; mkdir sub; echo x >sub/CLAUDE.md; git add -A; git status --porcelain"});
  EXPECT_EQ(result.out, "A  made\nA  sub/CLAUDE.md\n") << result.err;
}

TEST_F(RunCommand, ForwardsInterruptsAndWaitsForTheCommandsOwnAnswer) {
  Berth berth = Start({"run", "--", "sh", "-c",
                       "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 1; done"});
  berth.Expect("ready\n");
  berth.Signal(SIGINT);
  berth.Expect("caught\n");
  EXPECT_EQ(berth.Wait(), 7);
}

TEST_F(RunCommand, InterruptsAllThatRunsInTheForeground) {
  Berth berth = Start({"run", "--", "bash", "-c", "echo ready; sleep 1000; echo never"});
  berth.Expect("ready\n");
  berth.Signal(SIGINT);
  EXPECT_EQ(berth.Wait(), 130);
}

// Whatever it is doing: reading its options, making the session, carrying the streams, tidying up.
TEST_F(RunCommand, InterruptedAtAnyMomentLeavesNothing) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "--", "sleep", "1000"},
      {"run", "--name", "it", "--", "sleep", "1000"},
      {"start", "it", "--", "sleep", "1000"}};
  for (const std::vector<std::string>& command : commands) {
    for (int step = 0; step < 24; ++step) {
      Berth berth = Start(command);
      berth.SignalAfter(absl::Microseconds(400 * step), SIGINT);
      const int code = berth.Wait();
      if (code == 0) {  // it was quicker; only start ends by itself
        EXPECT_EQ(Run({"rm", "it", "--grace", "0"}).code, 0);
      } else {
        EXPECT_THAT(code, AnyOf(130, 143, 137)) << command[0] << " " << step;
      }
      EXPECT_EQ(Run({"ls"}).out, "") << command[0] << " " << step;
    }
  }
}

TEST_F(RunCommand, KillsOnTheSecondInterrupt) {
  Berth berth =
      Start({"run", "--", "sh", "-c", "trap 'echo no' INT; echo ready; while :; do sleep 1; done"});
  berth.Expect("ready\n");
  berth.Signal(SIGINT);
  berth.Expect("no\n");
  berth.Signal(SIGINT);
  // TERM, then KILL without a grace: whichever it dies of first.
  EXPECT_THAT(berth.Wait(), AnyOf(137, 143));
}

TEST_F(RunCommand, KillsWhatIgnoresTermAfterTheGrace) {
  Berth berth = Start({"run", "--grace", "200ms", "--", "sh", "-c",
                       "trap '' TERM; echo ready; while :; do sleep 1; done"});
  berth.Expect("ready\n");
  berth.Signal(SIGTERM);
  EXPECT_EQ(berth.Wait(), 137);
}

TEST_F(RunCommand, DiesWithItsCommandWhenItIsKilled) {
  Berth berth = Start({"run", "--", "sh", "-c", "setsid sleep 1000 & echo ready; wait"});
  berth.Expect("ready\n");
  // Its launcher, unless that is no child of it (under a sanitizer).
  pid_t child = -1;
  std::ifstream(absl::StrCat("/proc/", berth.pid, "/task/", berth.pid, "/children")) >> child;
  const UniqueFd launcher(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  berth.Signal(SIGKILL);
  EXPECT_EQ(berth.Wait(), 137);
  // The pipe ends when the last of them is gone, and the launcher then; that nothing is left is
  // checked at the end of every test.
  berth.Rest();
  if (launcher.ok()) {
    EXPECT_TRUE(WaitFd(launcher.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end").ok());
  }
}

TEST_F(RunCommand, EndsAtItsLimitsWith124) {
  const Result wall = Run({"run", "--wall", "300ms", "--", "sh", "-c",
                           "echo begun; while :; do sleep 0.1; echo x; done"});
  EXPECT_EQ(wall.code, 124);
  EXPECT_THAT(wall.out, HasSubstr("begun\nx\n"));
  EXPECT_THAT(wall.err, HasSubstr("wall limit"));
  const Result quiet =
      Run({"run", "--inactivity", "300ms", "--", "sh", "-c", "echo begun; sleep 1000"});
  EXPECT_EQ(quiet.code, 124);
  EXPECT_EQ(quiet.out, "begun\n");
  EXPECT_THAT(quiet.err, HasSubstr("inactivity limit"));
}

TEST_F(RunNamed, IsASessionWhileItRunsAndGoneAfter) {
  Berth berth = Start({"run", "--name", "build", "--", "sh", "-c",
                       "echo ready; read line; echo got $line; exit 4"});
  berth.Expect("ready\n");
  EXPECT_THAT(Run({"ls"}).out, HasSubstr("build"));
  EXPECT_EQ(Run({"exec", "build", "--", "sh", "-c", "echo $BERTH_SESSION"}).out, "build\n");
  berth.Type("hello\n");
  berth.Expect("got hello\n");
  EXPECT_EQ(berth.Wait(), 4);
  EXPECT_EQ(Run({"ls"}).out, "");
}

TEST_F(RunNamed, CarriesBothStreamsAndAllInput) {
  const std::string bytes = AllBytes(3 << 20);
  const Result result =
      Run({"run", "--name", "copy", "--", "sh", "-c", "echo err >&2; cat"}, bytes);
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(result.out == bytes) << result.out.size();
  EXPECT_EQ(result.err, "err\n");
}

TEST_F(RunNamed, InterruptsAllThatRunsInTheForeground) {
  Berth berth =
      Start({"run", "--name", "it", "--", "bash", "-c", "echo ready; sleep 1000; echo never"});
  berth.Expect("ready\n");
  berth.Signal(SIGINT);
  EXPECT_EQ(berth.Wait(), 130);
}

TEST_F(RunNamed, EndsWithAnInterrupt) {
  Berth berth = Start({"run", "--name", "it", "--", "bash", "-c", "echo ready; exec sleep 1000"});
  berth.Expect("ready\n");
  berth.Signal(SIGINT);
  EXPECT_EQ(berth.Wait(), 130);
}

TEST_F(RunInTerminal, HasOneOfItsOwnThatFollowsTheSize) {
  Berth berth = StartInTerminal(
      {"run", "--", "sh", "-c", "tty; stty size; read x; stty size; exit 5"}, 24, 80);
  berth.Expect("/dev/pts/");
  berth.Expect("24 80\r\n");
  berth.Resize(50, 200);
  berth.Type("\r");
  berth.Expect("50 200\r\n");
  EXPECT_EQ(berth.Wait(), 5);
}

// cat and not a shell: dash misses an interrupt that comes just before it forks.
TEST_F(RunInTerminal, CtrlCEndsTheCommandAndLeavesNothing) {
  Berth typed = StartInTerminal({"run", "--", "cat"});
  typed.Type("ready\r");
  typed.Expect("ready\r\nready\r\n");  // the terminal's echo, then cat's own
  typed.Type("\x03");
  EXPECT_EQ(typed.Wait(), 130);
  Berth sent = StartInTerminal({"run", "--", "cat"});
  sent.Type("ready\r");
  sent.Expect("ready\r\nready\r\n");
  sent.Signal(SIGINT);
  EXPECT_EQ(sent.Wait(), 130);
}

TEST_F(RunInTerminal, CtrlCReachesACommandThatHasNone) {
  Berth berth =
      StartInTerminal({"run", "--tty", "never", "--", "sh", "-c",
                       "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 1; done"});
  berth.Expect("ready");
  berth.Type("\x03");
  berth.Expect("caught");
  EXPECT_EQ(berth.Wait(), 7);
}

TEST_F(RunInTerminal, RestoresTheModesOfTheOuterOne) {
  Berth berth = StartInTerminal({"run", "--", "sh", "-c", "echo ready; read x; echo bye"});
  berth.Expect("ready");
  termios during, after;
  ASSERT_EQ(tcgetattr(berth.in.get(), &during), 0);
  EXPECT_EQ(during.c_lflag & (ICANON | ECHO), 0u);
  berth.Type("\r");
  berth.Expect("bye");
  // Kept open here: the modes can be read once berth is gone.
  EXPECT_EQ(berth.Wait(), 0);
  ASSERT_EQ(tcgetattr(berth.in.get(), &after), 0);
  EXPECT_NE(after.c_lflag & ICANON, 0u);
  EXPECT_NE(after.c_lflag & ECHO, 0u);
}

TEST_F(RunInTerminal, CanBeAskedForWithoutOne) {
  EXPECT_EQ(
      Run({"run", "--tty", "always", "--", "sh", "-c", "test -t 0 && test -t 2 && cat"}, "line\n")
          .out,
      "line\r\nline\r\n");
  Berth berth =
      StartInTerminal({"run", "--tty", "never", "--", "sh", "-c", "test -t 0 || echo none; cat"});
  berth.Expect("none");
  berth.Type("text\n\x04");
  berth.Expect("text\r\ntext\r\n");
  EXPECT_EQ(berth.Wait(), 0);
}

TEST_F(ExecCommand, RunsBesideTheMainProcessWithItsEnvironment) {
  ASSERT_EQ(Run({"start", "web", "-e", "COLOUR=blue", "--", "sleep", "1000"}).code, 0);
  const Result result =
      Run({"exec", "web", "--", "sh", "-c", "cat; echo $COLOUR >&2; exit 9"}, "input");
  EXPECT_EQ(result.code, 9);
  EXPECT_EQ(result.out, "input");
  EXPECT_EQ(result.err, "blue\n");
  EXPECT_EQ(Run({"exec", "web", "--", "no-such-program"}).code, 127);
  EXPECT_EQ(Run({"exec", "wbe", "--", "true"}).code, 125);
}

}  // namespace
}  // namespace berth
