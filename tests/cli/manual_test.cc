// The manual pages: made for every command, and what mandoc thinks of them.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

class Manual : public CliTest {
 protected:
  // The commands as `berth --help` lists them.
  std::vector<std::string> Commands() {
    std::vector<std::string> commands;
    const std::string help = Run({"--help"}).out;
    bool listed = false;
    for (const absl::string_view line : absl::StrSplit(help, '\n')) {
      if (listed && line.empty()) break;
      if (listed) commands.emplace_back(line.substr(2, line.find("  ", 2) - 2));
      listed |= line == "Commands:";
    }
    return commands;
  }
  Result RunReaper(std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "--", std::filesystem::absolute(getenv("BERTH_REAPER"))});
    return Run(args);
  }

  // mandoc finds no fault with the page.
  void ExpectNothingToSay(const std::string& name, const std::string& page) {
    std::ofstream(work_ + "/page.1") << page;
    const Result lint = Run({"run", "--", "mandoc", "-Tlint", "-Wstyle", work_ + "/page.1"});
    for (const absl::string_view line : absl::StrSplit(lint.out, '\n', absl::SkipEmpty())) {
      // The pages that it refers to are not installed here.
      EXPECT_TRUE(absl::StrContains(line, "referenced manual not found")) << name << ": " << line;
    }
  }
  // As a person reads it.
  std::string Read(const std::string& page) {
    std::ofstream(work_ + "/page.1") << page;
    const std::string shown = Run({"run", "--", "mandoc", "-Tutf8", work_ + "/page.1"}).out;
    return Run({"run", "--", "col", "-b"}, shown).out;
  }
  static void ExpectOptions(const std::string& page, const std::string& help) {
    int options = 0;
    for (const absl::string_view word : absl::StrSplit(help, absl::ByAnyChar(" \n,"))) {
      if (!absl::StartsWith(word, "--") || word.size() <= 2) continue;
      EXPECT_THAT(page, HasSubstr(std::string(word)));
      ++options;
    }
    EXPECT_GT(options, 3) << help;
  }
};

TEST_F(Manual, HasAPageForEveryCommandThatMandocHasNothingToSayAbout) {
  const std::vector<std::string> commands = Commands();
  ASSERT_GT(commands.size(), 20u);
  std::vector<std::string> pages = {""};
  pages.insert(pages.end(), commands.begin(), commands.end());
  for (const std::string& command : pages) {
    std::vector<std::string> args = {"man"};
    for (const absl::string_view word : absl::StrSplit(command, ' ', absl::SkipEmpty())) {
      args.emplace_back(word);
    }
    const Result page = Run(args);
    ASSERT_EQ(page.code, 0) << command << page.err;
    ExpectNothingToSay(command, page.out);
  }
}

TEST_F(Manual, HasEveryOptionOfHelp) {
  const std::string page = Read(Run({"man", "start"}).out);
  ExpectOptions(page, Run({"start", "--help"}).out);
  EXPECT_THAT(page, HasSubstr("berth start job --pipes --wall 1h"));
}

TEST_F(Manual, OfTheReaperHasEveryOptionAndExitCodeOfItsHelp) {
  const Result made = RunReaper({"man"});
  ASSERT_EQ(made.code, 0) << made.err;
  ExpectNothingToSay("berth-reaper", made.out);
  const std::string page = Read(made.out);
  for (const char* command : {"sweep", "watch", "install", "uninstall"}) {
    ExpectOptions(page, RunReaper({command, "--help"}).out);
  }
  EXPECT_THAT(page, HasSubstr("--adopt codefly\n"));
  EXPECT_THAT(page, HasSubstr("berth-reaper watch --forget-ended 7d --every 1h"));
  EXPECT_THAT(page, testing::ContainsRegex("12[ \t]+something is left alone"));
  EXPECT_THAT(page, testing::ContainsRegex("75[ \t]+another reaper is at work"));
}

TEST_F(Manual, OfNoCommandIsAMistake) { EXPECT_EQ(Run({"man", "frobnicate"}).code, 2); }

}  // namespace
}  // namespace berth
