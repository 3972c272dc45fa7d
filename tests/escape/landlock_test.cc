// The tier `landlock`: no namespaces; what Landlock, the filter and the limits hold by themselves.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/escape/enclosed_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

using LandlockTest = EnclosedTest;

TEST_F(LandlockTest, TheWorkspaceIsWritableAndTheSystemIsNot) {
  const Outcome outcome =
      Shell(LandlockPlan(), "pwd; echo hello > made; cat made; echo x > /etc/berth-test; exit 3");
  EXPECT_EQ(outcome.out, work_ + "\nhello\n") << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  EXPECT_EQ(outcome.exit.code, 3);
  EXPECT_FALSE(fs::exists("/etc/berth-test"));
}

// Rows 23 and 25.
TEST_F(LandlockTest, OutsideNothingCanBeReadTruncatedMovedOrLinked) {
  Write("../outside/secret", "s3cr3t");
  const Outcome outcome = Shell(
      LandlockPlan(),
      absl::StrCat("cd ", outside_, "; cat secret; : > secret; truncate -s 0 secret; mv secret ",
                   work_, "; ln secret ", work_, "/link; ls; cat ", work_,
                   "/link; cat ../outside/secret"));
  EXPECT_FALSE(absl::StrContains(outcome.out, "s3cr3t")) << outcome.out;
  EXPECT_EQ(Read("../outside/secret"), "s3cr3t");
  EXPECT_FALSE(fs::exists(Path("link")));
}

// Row 8.
TEST_F(LandlockTest, NoCapabilityIsLeftAndNoneCanBeGained) {
  const Outcome outcome = Shell(LandlockPlan(), "grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
  EXPECT_THAT(outcome.out, HasSubstr("CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"));
  EXPECT_THAT(outcome.out, HasSubstr("NoNewPrivs:\t1\n"));
  if (geteuid() == 0) {
    EXPECT_THAT(outcome.out, HasSubstr("CapBnd:\t0000000000000000\n"));
  }
}

const Actor kSignals("signals", [](const std::vector<std::string>& args) {
  pid_t pid = 0;
  if (!absl::SimpleAtoi(args[0], &pid)) return 1;
  printf("signal: %s\n", kill(pid, SIGURG) == 0 ? "done" : strerror(errno));
  char byte;
  const int fd = open(("/proc/" + args[0] + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  printf("environ: %s\n", fd >= 0 && read(fd, &byte, 1) == 1 ? "done" : strerror(errno));
  return 0;
});

// Row 10.
TEST_F(LandlockTest, OutsidersCannotBeSignalledNorLookedInto) {
  const Outcome outcome = Act(LandlockPlan(), {"signals", absl::StrCat(getpid())});
  EXPECT_EQ(outcome.out, "signal: Operation not permitted\nenviron: Permission denied\n");
}

TEST_F(LandlockTest, TheFilterHolds) {
  launcher::SandboxPlan plan = LandlockPlan();
  plan.filter = Denying({SYS_mkdir, SYS_mkdirat});
  const Outcome outcome = Shell(plan, "mkdir made; echo $?");
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_FALSE(fs::exists(Path("made")));
}

TEST_F(LandlockTest, LimitsAreSet) {
  launcher::SandboxPlan plan = LandlockPlan();
  plan.rlimits.push_back({7 /* RLIMIT_NOFILE */, 64});
  EXPECT_EQ(Shell(plan, "ulimit -n; ulimit -Hn").out, "64\n64\n");
}

TEST_F(LandlockTest, ARuleForWhatIsNotThereIsNamedUnlessItIsOptional) {
  launcher::SandboxPlan plan = LandlockPlan();
  plan.landlock.push_back({.path = "/no/such", .access = 1});
  EXPECT_THAT(Start(plan, {"/bin/true"}, work_, -1, -1),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'/no/such'")));
  plan.landlock.back().optional = true;
  EXPECT_EQ(Shell(plan, "exit 4").exit.code, 4);
}

TEST_F(LandlockTest, APlanThatWouldHoldNothingIsRefused) {
  launcher::SandboxPlan plan = LandlockPlan();
  plan.landlock_fs = plan.landlock_net = plan.landlock_scope = 0;
  EXPECT_FALSE(Start(plan, {"/bin/true"}, work_, -1, -1).ok());
}

}  // namespace
}  // namespace berth
