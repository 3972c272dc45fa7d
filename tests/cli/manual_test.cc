// The manual pages: made for every command, and what mandoc thinks of them.

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
    const std::string file = work_ + "/page.1";
    std::ofstream(file) << page.out;
    const Result lint = Run({"run", "--", "mandoc", "-Tlint", "-Wstyle", file});
    for (const absl::string_view line : absl::StrSplit(lint.out, '\n', absl::SkipEmpty())) {
      // The pages that it refers to are not installed here.
      EXPECT_TRUE(absl::StrContains(line, "referenced manual not found"))
          << command << ": " << line;
    }
  }
}

TEST_F(Manual, HasEveryOptionOfHelp) {
  const Result help = Run({"start", "--help"});
  std::ofstream(work_ + "/page.1") << Run({"man", "start"}).out;
  const std::string page = Run({"run", "--", "mandoc", "-Tutf8", work_ + "/page.1"}).out;
  const std::string plain = Run({"run", "--", "col", "-b"}, page).out;
  for (const absl::string_view word : absl::StrSplit(help.out, absl::ByAnyChar(" \n,"))) {
    if (absl::StartsWith(word, "--") && word.size() > 2) {
      EXPECT_THAT(plain, HasSubstr(std::string(word)));
    }
  }
  EXPECT_THAT(plain, HasSubstr("berth start job --pipes --wall 1h"));
}

TEST_F(Manual, OfNoCommandIsAMistake) { EXPECT_EQ(Run({"man", "frobnicate"}).code, 2); }

}  // namespace
}  // namespace berth
