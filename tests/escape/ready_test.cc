// Programs whose process was made, and confined, before they were asked for
// (sandbox/launcher/ready_child.h): no different from others.

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/kernel.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// All that the kernel says of a process and of what it has, but for numbers that are its own.
constexpr char kSelf[] =
    "grep -E '^(Umask|Uid|Gid|Sig[PBIC]|Shd|Cap|NoNewPrivs|Seccomp|Threads)' /proc/self/status; "
    "grep -v 'Max processes' /proc/self/limits; ls /proc/self/fd; pwd; "
    "test $(cut -d')' -f2 /proc/$$/stat | cut -d' ' -f4) = $$ && echo leads its group";

class ReadyTest : public EnclosedTest {
 protected:
  void SetUp() override {
    EnclosedTest::SetUp();
    prepares_ = false;
  }
  launcher::SandboxPlan Pooled() const {
    launcher::SandboxPlan plan = Plan();
    plan.tier = launcher::SandboxTier::kPooled;
    return plan;
  }
  int Prepare(const launcher::SandboxPlan& plan) {
    const absl::StatusOr<int> waiting = client_->Prepare(plan.Encode());
    EXPECT_THAT(waiting, IsOk());
    return waiting.value_or(0);
  }
  // Without groups of their own, as a plain user here, processes of the tier landlock are below a
  // supervisor, and none waits.
  int Most(const launcher::SandboxPlan& plan) const {
    return plan.tier == launcher::SandboxTier::kLandlock && geteuid() != 0 ? 0 : 2;
  }
  std::vector<pid_t> Children(pid_t of) const {
    std::ifstream file(absl::StrCat("/proc/", of, "/task/", of, "/children"));
    std::vector<pid_t> pids;
    for (pid_t pid; file >> pid;) pids.push_back(pid);
    return pids;
  }
};

TEST_F(ReadyTest, IsConfinedAndLeftAsOneThatIsMadeForItsProgram) {
  for (launcher::SandboxPlan plan : {Plan(), Pooled(), LandlockPlan()}) {
    plan.rlimits = {{.resource = RLIMIT_NOFILE, .value = 100}};
    plan.filter = Denying({SYS_mkdir, SYS_mkdirat});
    launcher::SandboxPlan other = plan;
    other.ready_child = false;
    const Outcome cold = Shell(other, kSelf);
    EXPECT_THAT(cold.out, HasSubstr("NoNewPrivs:\t1"));
    EXPECT_THAT(cold.out, HasSubstr("leads its group"));
    if (plan.tier != launcher::SandboxTier::kNamespaces) {
      ASSERT_EQ(Prepare(plan), Most(plan));
    }
    const Outcome ready = Shell(plan, absl::StrCat(kSelf, "; mkdir x || exit 7"));
    EXPECT_EQ(ready.prepared, plan.tier != launcher::SandboxTier::kNamespaces && Most(plan) > 0);
    EXPECT_EQ(ready.out, cold.out);
    EXPECT_EQ(ready.exit.code, 7);
  }
}

TEST_F(ReadyTest, WhatCannotBeExecutedIsToldAndTheNextRuns) {
  for (const launcher::SandboxPlan& plan : {Plan(), Pooled(), LandlockPlan()}) {
    for (int i = 0; i < 5; ++i) {
      Prepare(plan);
      EXPECT_THAT(Start(plan, {"/no/such"}, work_, -1, -1).status(),
                  StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such")));
      EXPECT_THAT(Start(plan, {"/bin/true"}, "/no/such", -1, -1).status(),
                  StatusIs(absl::StatusCode::kNotFound));
      EXPECT_EQ(Shell(plan, "exit 3").exit.code, 3);
    }
  }
}

TEST_F(ReadyTest, OneThatWasKilledWhileItWaitedIsNotMissed) {
  for (const launcher::SandboxPlan& plan : {Pooled(), LandlockPlan()}) {
    ASSERT_EQ(Prepare(plan), Most(plan));
    // Of our own launcher, which has not reaped them.
    for (const pid_t pid : Children(client_->pid())) {
      const UniqueFd pidfd(launcher::PidfdOpen(pid));
      launcher::PidfdSignal(pidfd.get(), SIGKILL);
      EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end"), IsOk());
    }
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Shell(plan, "exit 3").exit.code, 3);
  }
}

TEST_F(ReadyTest, ItsFilesAreThoseOfTheStart) {
  std::ofstream(outside_ + "/file") << "old\n";
  launcher::SandboxPlan plan = LandlockPlan();
  plan.landlock.push_back({.path = outside_ + "/file", .access = 4 /* read */});
  ASSERT_EQ(Prepare(plan), Most(plan));
  std::ofstream(outside_ + "/new") << "new\n";
  fs::rename(outside_ + "/new", outside_ + "/file");
  const Outcome outcome = Shell(plan, absl::StrCat("cat ", outside_, "/file"));
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "new\n") << outcome.err;
}

TEST_F(ReadyTest, TheLaunchersOwnStreamsStayWhatTheyAre) {
  for (const launcher::SandboxPlan& plan : {Pooled(), LandlockPlan()}) {
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(Prepare(plan), Most(plan));
      EXPECT_EQ(Shell(plan, "echo said").out, "said\n");
    }
  }
  for (const char* fd : {"0", "1", "2"}) {
    const std::string path = absl::StrCat("/proc/", client_->pid(), "/fd/", fd);
    if (geteuid() == 0) {
      EXPECT_EQ(fs::read_symlink(path), "/dev/null");
    } else {
      EXPECT_NE(access(path.c_str(), F_OK), 0) << "all may look";
    }
  }
}

TEST_F(ReadyTest, GoesWithItsLauncher) {
  ASSERT_EQ(Prepare(Pooled()), 2);
  ASSERT_EQ(Prepare(LandlockPlan()), Most(LandlockPlan()));
  std::vector<UniqueFd> waiting;
  for (const pid_t pid : Children(client_->pid())) {
    waiting.emplace_back(launcher::PidfdOpen(pid));
    for (const pid_t inner : Children(pid)) waiting.emplace_back(launcher::PidfdOpen(inner));
  }
  EXPECT_THAT(waiting, SizeIs(static_cast<size_t>(4 + Most(LandlockPlan()))));
  client_.reset();
  for (const UniqueFd& pidfd : waiting) {
    EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end"), IsOk());
  }
}

}  // namespace
}  // namespace berth
