// The file of the command itself, which its launcher and the init of its sandboxes are copies of.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/cli_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string BytesOf(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

class OwnFile : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directories(work_ + "/ws");
    fs::create_directories(work_ + "/own");
    fs::copy_file(fs::canonical(BinFolder() + "/berth"), own_ = work_ + "/own/berth");
    // Its owner, who runs it, may write to it: only the sandbox keeps the program from that.
    fs::permissions(own_, fs::perms::owner_all);
    before_ = BytesOf(own_);
  }
  // Of a berth that is the copy.
  Result Agent(const std::string& command) {
    return Run({"run", "--shell",
                absl::StrCat("BERTH_STATE_DIR='", dir_, "' '", own_, "' run --preset agent --cwd '",
                             work_, "/ws' ", command)});
  }
  void Script(const std::string& text) {
    std::ofstream(work_ + "/ws/script") << text;
    fs::permissions(work_ + "/ws/script", fs::perms::owner_all);
  }

  std::string own_, before_;
};

TEST_F(OwnFile, CVE_2019_5736_IsNotWhatAScriptOfTheSandboxIsExecutedBy) {
  for (const char* line : {"#!/proc/self/exe", "#!/proc/self/exe version", "#!/proc/1/exe version",
                           "#!/proc/thread-self/exe --help", "#!/proc/self/fd/3 version",
                           "#!/proc/self/fd/4 version", "#!/proc/2/exe run"}) {
    Script(absl::StrCat(line, "\n"));
    const Result result = Agent("-- ./script");
    EXPECT_NE(result.code, 0) << line;
    EXPECT_EQ(result.out, "") << line;
  }
  for (const char* program : {"/proc/self/exe", "/proc/1/exe", "/proc/self/fd/4"}) {
    const Result result = Agent(absl::StrCat("-- ", program, " version"));
    EXPECT_NE(result.code, 0) << program;
    EXPECT_EQ(result.out, "") << program;
  }
  EXPECT_TRUE(BytesOf(own_) == before_);
}

TEST_F(OwnFile, IsNotReachedThroughAnyProcess) {
  const Result result = Agent(
      "--shell 'readlink /proc/1/exe /proc/1/fd/* /proc/1/map_files/*; cat /proc/1/maps; "
      "for exe in /proc/[0-9]*/exe; do readlink $exe; printf x >>$exe; done; grep -h own "
      "/proc/*/maps; "
      "echo tried' 2>/dev/null");
  EXPECT_THAT(result.out, HasSubstr("tried"));
  EXPECT_THAT(result.out, Not(HasSubstr("/own/")));
  EXPECT_TRUE(BytesOf(own_) == before_);
}

TEST_F(OwnFile, TheCommandLineIsNotShownInside) {
  const Result result = Agent("-e SECRET=hush -- cat /proc/1/cmdline");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("berth"));
  for (const char* word : {"hush", "preset", "cmdline"}) {
    EXPECT_THAT(result.out, Not(HasSubstr(word)));
  }
}

TEST_F(OwnFile, DescriptorsOfTheTrampolineAreNotThePrograms) {
  const Result result = Agent("-- ls -l /proc/self/fd");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("memfd")));
  EXPECT_THAT(result.out, Not(HasSubstr(" 4 -> ")));  // 3 is the folder that ls lists
}

TEST_F(OwnFile, APolicyThatRefusesWhatTheTrampolineCouldUseStillRuns) {
  for (const char* call : {"execveat", "fcntl"}) {
    std::ofstream(work_ + "/p.json")
        << R"({"preset": "strict", "hostname": "here", "deny_syscalls": [")" << call << "\"]}";
    const Result result = Run({"run", "--policy", work_ + "/p.json", "--", "uname", "-n"});
    EXPECT_EQ(result.code, 0) << call << ": " << result.err;
    EXPECT_EQ(result.out, "here\n") << call;
    EXPECT_EQ(result.err, "") << call;
    EXPECT_EQ(Run({"run", "--policy", work_ + "/p.json", "--", "no-such-program"}).code, 127)
        << call;
  }
}

}  // namespace
}  // namespace berth
