#include "sandbox/cgroups/report.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/limits.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CgroupReport Nothing() { return CgroupReport::Of(cgroups::Layout()); }

CgroupReport Everything() {
  CgroupReport report;
  for (auto* item : {&report.memory, &report.swap, &report.pids, &report.cpu}) item->held = true;
  return report;
}

TEST(CgroupReport, RootCanLimitEverythingHere) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  const CgroupReport report = CgroupReport::Probe();
  for (const auto* item : {&report.memory, &report.pids, &report.cpu}) {
    EXPECT_TRUE(item->held) << report.ToText();
    EXPECT_NE(item->where, "");
  }
}

TEST(CgroupReport, APlainUserIsToldWhyNotAndWhatToDo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t pid = fork();
  if (pid == 0) {
    if (setresuid(3000001, 3000001, 3000001) != 0) _exit(2);
    const CgroupReport report = CgroupReport::Probe();
    for (const auto* item : {&report.memory, &report.swap, &report.pids, &report.cpu}) {
      if (item->held || item->reason.empty() || item->remedy.empty()) _exit(3);
    }
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(CgroupReport, WithoutGroupsNothingIsHeld) {
  const CgroupReport report = Nothing();
  EXPECT_EQ(report.layout, "none");
  EXPECT_FALSE(report.memory.held);
  EXPECT_THAT(report.ToText(), HasSubstr("memory: not for a tree: no group for memory"));
}

TEST(PlanLimits, UsesGroupsWhereTheyHold) {
  const auto plan =
      PlanLimits({.memory_bytes = 1 << 30, .swap_bytes = 0, .pids = 64, .cpus = 1.5}, Everything());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->group, (cgroups::GroupLimits{1 << 30, 0, 64, 1500}));
  EXPECT_THAT(plan->rlimits, IsEmpty());
  EXPECT_THAT(plan->weaker, IsEmpty());
}

TEST(PlanLimits, FallsBackToRlimitsAndSaysHowPoorTheyAre) {
  const auto plan = PlanLimits({.memory_bytes = 1 << 30, .pids = 64}, Nothing());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->group, cgroups::GroupLimits());
  ASSERT_EQ(plan->rlimits.size(), 2u);
  EXPECT_EQ(plan->rlimits[0].resource, RLIMIT_AS);
  EXPECT_EQ(plan->rlimits[0].value, uint64_t{1} << 30);
  EXPECT_EQ(plan->rlimits[1].resource, RLIMIT_NPROC);
  EXPECT_THAT(plan->weaker, ElementsAre(HasSubstr("not of the tree"), HasSubstr("of the user")));
}

TEST(PlanLimits, WhatNothingCanHoldIsRefusedNotDropped) {
  EXPECT_THAT(PlanLimits({.cpus = 1}, Nothing()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("limit cpus")));
  EXPECT_THAT(PlanLimits({.memory_bytes = 1 << 20, .swap_bytes = 0}, Nothing()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("limit swap")));
}

TEST(PlanLimits, RefusesNonsense) {
  EXPECT_THAT(PlanLimits({.cpus = 0.001}, Everything()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PlanLimits({.cpus = 1e300}, Everything()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PlanLimits({.swap_bytes = 0}, Everything()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace berth
