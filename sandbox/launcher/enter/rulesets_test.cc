#include "sandbox/launcher/enter/rulesets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/landlock.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReadFile = 1 << 2;

class RulesetsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (LandlockAbi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    std::string name = testing::TempDir() + "/rulesets-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
    MakeShown("first");
    plan_.tier = SandboxTier::kLandlock;
    plan_.landlock_fs = kReadFile;
    plan_.landlock.push_back({.path = dir_ + "/shown", .access = kReadFile});
  }
  void TearDown() override { fs::remove_all(dir_); }

  void MakeShown(const std::string& text) {
    fs::create_directory(dir_ + "/shown");
    std::ofstream(dir_ + "/shown/file") << text;
  }
  // Whether a process that enforces the ruleset can read that file.
  bool CanRead(int ruleset, const std::string& path) {
    const pid_t pid = fork();
    if (pid == 0) {
      Failure failure;
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
          !EnforceLandlock(plan_, ruleset, &failure)) {
        _exit(2);
      }
      _exit(open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::string dir_;
  SandboxPlan plan_;
  Rulesets rulesets_;
};

TEST_F(RulesetsTest, OneServesAllProgramsOfAPlan) {
  const int first = rulesets_.Get("plan", plan_);
  ASSERT_GE(first, 0);
  EXPECT_TRUE(CanRead(first, dir_ + "/shown/file"));
  EXPECT_EQ(rulesets_.Get("plan", plan_), first);
  EXPECT_TRUE(CanRead(first, dir_ + "/shown/file"));
  EXPECT_FALSE(CanRead(first, "/etc/passwd"));
}

TEST_F(RulesetsTest, AFolderThatTookThePlaceOfAnotherIsShownInItsStead) {
  ASSERT_GE(rulesets_.Get("plan", plan_), 0);
  fs::rename(dir_ + "/shown", dir_ + "/away");
  MakeShown("second");
  const int second = rulesets_.Get("plan", plan_);
  ASSERT_GE(second, 0);
  EXPECT_TRUE(CanRead(second, dir_ + "/shown/file"));
  EXPECT_FALSE(CanRead(second, dir_ + "/away/file"));
}

TEST_F(RulesetsTest, AnOptionalPathThatCameIsShown) {
  plan_.landlock.push_back({.path = dir_ + "/later", .access = kReadFile, .optional = true});
  const int first = rulesets_.Get("plan", plan_);
  ASSERT_GE(first, 0);
  std::ofstream(dir_ + "/later") << "here";
  EXPECT_FALSE(CanRead(first, dir_ + "/later"));
  EXPECT_TRUE(CanRead(rulesets_.Get("plan", plan_), dir_ + "/later"));
}

TEST_F(RulesetsTest, APathThatIsGoneHasNone) {
  ASSERT_GE(rulesets_.Get("plan", plan_), 0);
  fs::remove_all(dir_ + "/shown");
  EXPECT_LT(rulesets_.Get("plan", plan_), 0);
}

TEST_F(RulesetsTest, AnotherPlanHasAnother) {
  const int first = rulesets_.Get("plan", plan_);
  SandboxPlan other = plan_;
  other.landlock[0].path = "/etc";
  const int second = rulesets_.Get("other", other);
  EXPECT_NE(first, second);
  EXPECT_FALSE(CanRead(second, dir_ + "/shown/file"));
}

}  // namespace
}  // namespace berth::launcher
