// berth-reaper install, and what its help says.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/cli/cli_test.h"
#include "reaper/test_records.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

TEST_F(ReaperCli, InstallWritesFilesThatUninstallRemoves) {
  const std::string root = dir_ / "root";
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--user", "--timer"}, {"--user", "--watch"}, {"--system"}, {"--system", "--cron"}}) {
    fs::create_directory(root);
    std::vector<std::string> install{"install", "--root", root},
        uninstall{"uninstall", kind[0], "--root", root};
    install.insert(install.end(), kind.begin(), kind.end());
    const Ran ran = Run(install);
    EXPECT_EQ(ran.code, 0) << ran.err;
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      ++files;
      const std::string text = ReadText(entry.path());
      EXPECT_THAT(text, Not(HasSubstr("@PROGRAM@")));
      EXPECT_THAT(text, Not(HasSubstr("@OPTIONS@")));
      if (!absl::EndsWith(entry.path().string(), ".timer")) {
        EXPECT_THAT(text, HasSubstr(fs::canonical(program_).string()));
      }
    }
    EXPECT_GT(files, 0);
    EXPECT_EQ(Run(install).code, 125);  // it is there
    EXPECT_EQ(Run(uninstall).code, 0);
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      EXPECT_TRUE(entry.is_directory()) << entry.path();
    }
    EXPECT_EQ(Run(uninstall).code, 0);
    fs::remove_all(root);
  }
}

TEST_F(ReaperCli, SystemdFindsNothingWrongWithTheUnits) {
  const std::string root = dir_ / "root";
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--user", "--timer"}, {"--user", "--watch"}, {"--system", "--timer"}}) {
    std::vector<std::string> install{"install", "--root", root};
    install.insert(install.end(), kind.begin(), kind.end());
    ASSERT_EQ(Run(install).code, 0);
    Words verify{"systemd-analyze", "verify", "--man=no"};
    if (kind[0] == "--user") verify.emplace_back("--user");
    const size_t options = verify.size();
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && !entry.is_symlink()) verify.push_back(entry.path());
    }
    ASSERT_GT(verify.size(), options);
    // It warns of what it does not understand, and exits with 0 then.
    const Ran ran = RunOther(verify);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out + ran.err, "") << verify.back();
    fs::remove_all(root);
  }
}

// As a shell takes them: at blanks, but for those in single quotes.
std::vector<std::string> WordsOf(absl::string_view line) {
  std::vector<std::string> words;
  bool quoted = false;
  for (const absl::string_view part : absl::StrSplit(line, '\'')) {
    if (quoted) {
      words.back() += part;
    } else {
      for (const absl::string_view word : absl::StrSplit(part, ' ')) words.emplace_back(word);
    }
    quoted = !quoted;
  }
  std::erase(words, "");
  return words;
}

TEST_F(ReaperCli, EveryExampleOfItsHelpWorks) {
  int examples = 0;
  for (const char* command : {"sweep", "install"}) {
    const std::string help = Run({command, "--help"}).out;
    const size_t at = help.find("Examples:");
    ASSERT_NE(at, std::string::npos) << help;
    for (absl::string_view line : absl::StrSplit(help.substr(at + 9), '\n', absl::SkipEmpty())) {
      line = absl::StripAsciiWhitespace(line);
      if (line.empty()) continue;
      absl::ConsumePrefix(&line, "sudo ");
      ASSERT_TRUE(absl::ConsumePrefix(&line, "berth-reaper ")) << line;
      Words words = WordsOf(line);
      // Files of the machine are not this test's, nor are other users.
      std::erase(words, "--all-users");
      std::replace<Words::iterator, std::string>(words.begin(), words.end(), "/run/berth.prom",
                                                 dir_ / "berth.prom");
      if (words[0] == "install") words.insert(words.begin() + 1, {"--root", dir_ / "root"});
      const auto store = Open(".local/state/berth");
      MakeOrphan(*store, "fix-42", dead_);
      const Ran ran = Run(words);
      EXPECT_TRUE(ran.code == 0 || ran.code == 10)
          << line << ": " << ran.code << ran.out << ran.err;
      fs::remove_all(dir_ / ".local");
      ++examples;
    }
  }
  EXPECT_GE(examples, 6);
}

}  // namespace
}  // namespace berth::reaper
