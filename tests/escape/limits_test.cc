// ESCAPES row 20 and scenario 31 for single programs: who allocates or forks without bound ends,
// and says why; nobody else notices, and no group stays.

#include <linux/landlock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cgroups/layout.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// As EndReason of runtime/types.h counts them.
constexpr int kExited = 0, kOom = 6, kPids = 7;

class LimitsTest : public EnclosedTest {
 protected:
  void SetUp() override {
    EnclosedTest::SetUp();
    launcher_ = absl::StrCat("berth-test-", client_->pid(), "-");
  }
  void TearDown() override {
    client_.reset();
    EXPECT_THAT(Groups(), IsEmpty());
    EnclosedTest::TearDown();
  }
  // One of each tier.
  std::vector<launcher::SandboxPlan> Plans() const {
    launcher::SandboxPlan landlock = LandlockPlan();
    landlock.landlock.push_back({.path = "/dev/zero", .access = LANDLOCK_ACCESS_FS_READ_FILE});
    return {Plan(), landlock};
  }

  // A plain user has no groups here: then a start with limits is refused, and nothing has run.
  bool RefusedHere() {
    if (geteuid() == 0) return false;
    for (launcher::SandboxPlan plan : Plans()) {
      plan.memory_bytes = 48 << 20;
      EXPECT_THAT(Start(plan, {"/bin/touch", "ran"}, work_, -1, -1),
                  StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("limits")));
      EXPECT_FALSE(std::filesystem::exists(Path("ran")));
    }
    return true;
  }

  // The groups that hold limits of the launcher's programs.
  std::vector<std::string> Groups() const {
    std::vector<std::string> found;
    for (const cgroups::Hierarchy& hierarchy : cgroups::Layout::Read().v1) {
      if (!hierarchy.mounted()) continue;
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(hierarchy.point, error)) {
        const std::string name = entry.path().filename();
        if (absl::StartsWith(name, launcher_)) found.push_back(entry.path());
      }
    }
    return found;
  }
  std::string launcher_;
};

TEST_F(LimitsTest, AMemoryBombEndsAsThat) {
  if (RefusedHere()) return;
  for (launcher::SandboxPlan plan : Plans()) {
    plan.memory_bytes = 48 << 20;
    plan.swap_bytes = 0;
    // tail keeps what could be the last line: all of it.
    const Outcome itself = Run(plan, {"/usr/bin/tail", "/dev/zero"});
    EXPECT_EQ(itself.exit.signal, SIGKILL);
    EXPECT_EQ(itself.exit.reason, kOom);
    const Outcome child = Shell(plan, "tail /dev/zero; exit $?");
    EXPECT_EQ(child.exit.code, 128 + SIGKILL);
    EXPECT_EQ(child.exit.reason, kOom);
  }
}

TEST_F(LimitsTest, AForkBombEndsAsThat) {
  if (RefusedHere()) return;
  for (launcher::SandboxPlan plan : Plans()) {
    plan.pids = 24;
    const Outcome outcome = Shell(plan, "for i in $(seq 100); do sleep 1000 & done; exit 0");
    EXPECT_NE(outcome.exit.code, 0) << outcome.out;
    EXPECT_EQ(outcome.exit.reason, kPids);
    EXPECT_THAT(outcome.err, HasSubstr("fork"));
  }
}

TEST_F(LimitsTest, WhatTheyStopIsToldToTheOwner) {
  if (RefusedHere()) return;
  launcher::SandboxPlan plan = Plan();
  plan.memory_bytes = 48 << 20;
  plan.swap_bytes = 0;
  plan.pids = 24;
  for (const auto& [line, told] :
       {std::pair("tail /dev/zero; exit 0", "oom"),
        std::pair("for i in $(seq 100); do sleep 1000 & done; exit 0", "fork")}) {
    const auto spawned = Start(plan, {"/bin/sh", "-c", line}, work_, -1, -1);
    ASSERT_THAT(spawned, IsOk());
    AwaitGone(*spawned);
    const auto violations = client_->Violations(spawned->pid, 0);
    ASSERT_THAT(violations, IsOk());
    EXPECT_THAT(*violations, HasSubstr(told));
  }
}

TEST_F(LimitsTest, WhoKeepsWithinThemEndsAsEver) {
  if (RefusedHere()) return;
  for (launcher::SandboxPlan plan : Plans()) {
    plan.memory_bytes = 256 << 20;
    plan.pids = 24;
    plan.cpu_millis = 1000;
    const Outcome outcome = Shell(plan, "echo fine; exit 3");
    EXPECT_EQ(outcome.out, "fine\n");
    EXPECT_EQ(outcome.exit.code, 3);
    EXPECT_EQ(outcome.exit.reason, kExited);
  }
}

TEST_F(LimitsTest, AProgramIsNotBlamedForTheOneBefore) {
  if (RefusedHere()) return;
  for (launcher::SandboxPlan plan : Plans()) {
    plan.memory_bytes = 48 << 20;
    plan.swap_bytes = 0;
    plan.pids = 24;
    EXPECT_EQ(Run(plan, {"/usr/bin/tail", "/dev/zero"}).exit.reason, kOom);
    EXPECT_EQ(Shell(plan, "kill -KILL $$").exit.reason, kExited);
    EXPECT_EQ(Shell(plan, "for i in $(seq 100); do sleep 1000 & done").exit.reason, kPids);
    EXPECT_EQ(Shell(plan, "exit 3").exit.reason, kExited);
  }
}

TEST_F(LimitsTest, SiblingsHaveLimitsOfTheirOwn) {
  if (RefusedHere()) return;
  launcher::SandboxPlan plan = Plans().back();
  plan.memory_bytes = 48 << 20;
  plan.swap_bytes = 0;
  plan.pids = 24;
  const auto sibling = Start(plan, {"/bin/sleep", "1000"}, work_, -1, -1);
  ASSERT_THAT(sibling, IsOk());
  EXPECT_EQ(Run(plan, {"/usr/bin/tail", "/dev/zero"}).exit.reason, kOom);
  EXPECT_EQ(Shell(plan, "for i in $(seq 100); do sleep 1000 & done").exit.reason, kPids);
  EXPECT_EQ(kill(sibling->pid, 0), 0);
  ASSERT_THAT(client_->Stop(sibling->pid, 0), IsOk());
  EXPECT_EQ(AwaitEnd(*sibling).reason, kExited);
  AwaitGone(*sibling);
}

TEST_F(LimitsTest, OfAKilledLauncherNoGroupStays) {
  if (RefusedHere()) return;
  launcher::SandboxPlan plan = Plan();
  plan.memory_bytes = 48 << 20;
  plan.pids = 24;
  ASSERT_THAT(Start(plan, {"/bin/sleep", "1000"}, work_, -1, -1), IsOk());
  EXPECT_THAT(Groups(), Not(IsEmpty()));
  ASSERT_EQ(kill(client_->pid(), SIGKILL), 0);
  // TearDown finds nothing.
}

}  // namespace
}  // namespace berth
