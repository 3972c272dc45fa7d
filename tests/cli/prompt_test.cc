// What a person meets at the prompt: help, mistakes, colour, closed streams.

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Mistakes = CliTest;
using Help = CliTest;
using Colour = CliTest;
using ClosedOutput = CliTest;

TEST_F(Mistakes, InACommandAreAnsweredWithTheOneThatWasMeant) {
  const Result result = Run({"strat", "x", "--", "true"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "berth: there is no command 'strat'\n  did you mean 'start'?\n");
  EXPECT_THAT(Run({"frobnicate"}).err, HasSubstr("berth --help"));
  EXPECT_EQ(Run({}).code, 2);
}

TEST_F(Mistakes, InANameAreAnsweredWithTheOneThatWasMeant) {
  ASSERT_EQ(Run({"start", "backend", "--", "cat"}).code, 0);
  const Result result = Run({"wait", "bakcend"});
  EXPECT_EQ(result.code, 125);
  EXPECT_EQ(result.err,
            "berth: wait: there is no session named 'bakcend'\n  did you mean 'backend'?\n");
  EXPECT_THAT(Run({"wait", "other"}).err, HasSubstr("berth ls"));
}

TEST_F(Mistakes, InAnOptionAreAnsweredWithTheOneThatWasMeant) {
  const Result result = Run({"run", "--nmae", "x", "--", "true"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean '--name'?"));
  EXPECT_EQ(Run({"ls", "too", "many"}).code, 2);
  EXPECT_EQ(Run({"wait"}).code, 2);
}

TEST_F(Mistakes, InTheStateDirectorySayWhatToDo) {
  const Result result = Run({"ls", "--state-dir", "/proc/nowhere"});
  EXPECT_EQ(result.code, 125);
  EXPECT_THAT(result.err, HasSubstr("--state-dir"));
}

TEST_F(Help, HasExamplesForEveryCommand) {
  for (const char* command :
       {"run", "start", "ls", "ps", "attach", "send", "keys", "capture", "logs", "exec", "wait",
        "kill", "rm", "stats", "rename", "ports free", "ports lease", "ports wait", "version"}) {
    const std::string words = command;
    std::vector<std::string> args = {words.substr(0, words.find(' '))};
    if (words.find(' ') != std::string::npos) args.push_back(words.substr(words.find(' ') + 1));
    args.push_back("--help");
    const Result result = Run(args);
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  berth")) << command;
  }
  EXPECT_EQ(Run({"help", "run"}).out, Run({"run", "--help"}).out);
  EXPECT_THAT(Run({"--help"}).out, HasSubstr("attach"));
}

// But for examples, which are to be copied.
TEST_F(Help, FitsATerminalOf80Columns) {
  std::vector<std::vector<std::string>> commands = {{"--help"}};
  for (const absl::string_view line : absl::StrSplit(Run({"man"}).out, '\n')) {
    absl::string_view name = line;
    if (!absl::ConsumePrefix(&name, ".It Ic \"")) continue;
    commands.push_back(absl::StrSplit(absl::StripSuffix(name, "\""), ' '));
    commands.back().push_back("--help");
  }
  ASSERT_GT(commands.size(), 20u);
  for (const std::vector<std::string>& command : commands) {
    const std::string help = Run(command).out;
    for (const absl::string_view line :
         absl::StrSplit(help.substr(0, help.find("Examples:")), '\n')) {
      const auto columns =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, 80) << line;
    }
  }
}

TEST_F(Colour, IsForTerminalsOnlyAndNeverWithNoColor) {
  ASSERT_EQ(Run({"start", "one", "--", "cat"}).code, 0);
  EXPECT_THAT(Run({"ls"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Run({"wait", "two"}).err, Not(HasSubstr("\x1b")));
  Berth colourful = StartInTerminal({"ls"});
  colourful.Expect("\x1b[32mrunning");
  EXPECT_EQ(colourful.Wait(), 0);
  env_.push_back("NO_COLOR=1");
  Berth plain = StartInTerminal({"ls"});
  EXPECT_EQ(plain.Wait(), 0);
  EXPECT_THAT(plain.Expect("running"), Not(HasSubstr("\x1b")));
}

TEST_F(Colour, TablesFitTheTerminal) {
  const std::string title(300, 't');
  ASSERT_EQ(Run({"start", "one", "--shell",
                 absl::StrCat("printf '\\033]2;", title, "\\007'; echo ready; cat")})
                .code,
            0);
  Berth follow = Start({"logs", "-f", "one"});
  follow.Expect("ready");
  EXPECT_THAT(Run({"ls"}).out, HasSubstr(title.substr(0, 100)));
  for (const uint16_t columns : {80, 200}) {
    Berth berth = StartInTerminal({"ls"}, 24, columns);
    berth.Expect("\r\n");
    const std::string line = berth.Expect("…");
    // Two escape sequences of colour, and an ellipsis of three bytes for one column.
    EXPECT_EQ(line.size(), columns + 5u + 4u + 2u) << line;
    EXPECT_EQ(berth.Wait(), 0);
  }
}

// Through a shell, which alone can start a program with a closed stream.
TEST_F(ClosedOutput, IsAnErrorAndNoCrash) {
  ASSERT_EQ(Run({"start", "one", "--", "cat"}).code, 0);
  for (const char* command : {"ls", "ls --json", "version", "--help", "stats", "ports free"}) {
    for (const char* output : {">&-", ">/dev/full"}) {
      const int status =
          system(absl::StrCat(Quoted(), " ", command, " ", output, " 2>/dev/null").c_str());
      EXPECT_EQ(WEXITSTATUS(status), 125) << command << " " << output;
    }
  }
  const int command = system(absl::StrCat(Quoted(), " run -- echo x >&- 2>/dev/null").c_str());
  EXPECT_NE(WEXITSTATUS(command), 0);
  const int input = system(absl::StrCat(Quoted(), " run -- cat <&- 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(input), 1);
}

TEST_F(ClosedOutput, ByAReaderThatLeftEndsQuietly) {
  Berth berth = Start({"--help"});
  berth.out.reset();
  const int code = berth.Wait();
  EXPECT_TRUE(code == 0 || code == 125) << code;  // 0: it was quicker
  Berth run = Start({"run", "--", "yes"});
  run.Expect("y\n");
  run.out.reset();
  EXPECT_EQ(run.Wait(), 141);
  Berth named = Start({"run", "--name", "it", "--", "yes"});
  named.Expect("y\n");
  named.out.reset();
  EXPECT_NE(named.Wait(), 0);
}

}  // namespace
}  // namespace berth
