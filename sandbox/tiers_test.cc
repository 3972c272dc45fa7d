#include "sandbox/tiers.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/dangerous.h"
#include "sandbox/policy.h"
#include "sandbox/probe.h"
#include "sandbox/tiers_from_probe.h"

namespace berth {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A machine that can do everything.
KernelProbe Good() {
  KernelProbe probe;
  probe.landlock_version = 7;
  return probe;
}
TierReport Of(const KernelProbe& probe) { return TierReportFrom(probe, CgroupReport()); }
Policy Agent(Tier tier) { return *Policy::Agent("/w").Tier(tier).Build(); }

auto Refused(const std::string& reason, const std::string& remedy) {
  return StatusIs(absl::StatusCode::kFailedPrecondition,
                  AllOf(HasSubstr(reason), HasSubstr("Remedy: "), HasSubstr(remedy)));
}

TEST(Probe, TriesTheRealThingAndLeavesNoChild) {
  const TierReport report = TierReport::Probe();
  for (const auto& [name, ability] : report.All()) {
    if (ability.state == Ability::State::kOk) {
      EXPECT_THAT(ability.detail, Not(IsEmpty())) << name;
    } else {
      EXPECT_THAT(ability.reason, Not(IsEmpty())) << name;
      EXPECT_THAT(ability.remedy, Not(IsEmpty())) << name;
    }
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Probe, LeavesTheCallerAsItWas) {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  sigset_t before, after;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &before), 0);
  const KernelProbe probe = KernelProbe::Run();
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  EXPECT_EQ(probe.landlock_version, version > 0 ? version : 0);
  EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

TEST(Choose, TakesTheStrongestThatThereIs) {
  EXPECT_THAT(ChooseTier(Agent(Tier::kAuto), Of(Good())), IsOkAndHolds(Tier::kPooled));
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(Good())), IsOkAndHolds(Tier::kNamespaces));
  EXPECT_THAT(ChooseTier(Agent(Tier::kPooled), Of(Good())), IsOkAndHolds(Tier::kPooled));
  EXPECT_THAT(ChooseTier(Agent(Tier::kLandlock), Of(Good())), IsOkAndHolds(Tier::kLandlock));
}

// Scenario 32: the precise error or the declared weaker tier, never silently unsandboxed.
TEST(Choose, NamesWhatKeepsUserNamespacesAwayAndTheRemedy) {
  KernelProbe probe = Good();
  probe.make_namespaces = ENOSPC;
  probe.max_user_namespaces = "0";
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(probe)),
              Refused("max_user_namespaces is 0", "sysctl -w user.max_user_namespaces"));
  probe = Good();
  probe.max_net_namespaces = "0";
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(probe)),
              Refused("max_net_namespaces is 0", "sysctl -w user.max_net_namespaces"));
  probe = Good();
  probe.map_ids = EPERM;
  probe.apparmor_restricts = "1";
  EXPECT_THAT(ChooseTier(Agent(Tier::kPooled), Of(probe)),
              Refused("AppArmor", "apparmor_restrict_unprivileged_userns=0"));
  probe = Good();
  probe.make_namespaces = EPERM;
  probe.userns_clone = "0";
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(probe)),
              Refused("unprivileged_userns_clone is 0", "unprivileged_userns_clone=1"));
  probe = Good();
  probe.make_namespaces = EPERM;
  probe.in_container = true;
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(probe)),
              Refused("Operation not permitted", "seccomp=unconfined"));
  probe = Good();
  probe.mount_proc = EPERM;
  EXPECT_THAT(ChooseTier(Agent(Tier::kNamespaces), Of(probe)),
              Refused("mount /proc", "systempaths=unconfined"));
}

TEST(Choose, NeverTakesAWeakerTierUnasked) {
  KernelProbe probe = Good();
  probe.make_namespaces = EPERM;
  EXPECT_THAT(ChooseTier(Agent(Tier::kAuto), Of(probe)),
              Refused("make namespaces", "does not hold: carve-outs"));
  EXPECT_THAT(ChooseTier(Agent(Tier::kLandlock), Of(probe)), IsOkAndHolds(Tier::kLandlock));
  // A policy that it holds whole may have it.
  const Policy plain = *Policy::Builder().System().Relax(dangerous::HostPidNamespace()).Build();
  EXPECT_THAT(ChooseTier(plain, Of(probe)), IsOkAndHolds(Tier::kLandlock));
}

TEST(Choose, LandlockIsRefusedForWhatItWouldChangeTheMeaningOf) {
  const TierReport report = Of(Good());
  EXPECT_THAT(
      ChooseTier(*Policy::Agent("/w").CopyOnWrite("/w").Tier(Tier::kLandlock).Build(), report),
      Refused("copy-on-write", "namespaces"));
  EXPECT_THAT(
      ChooseTier(*Policy::Agent("/w").AllowDomains({"a.b"}).Tier(Tier::kLandlock).Build(), report),
      Refused("allow-list", "namespaces"));
  EXPECT_THAT(ChooseTier(*Policy::Agent("/w")
                              .BindTo("/a", "/b", Policy::Access::kReadOnly)
                              .Tier(Tier::kLandlock)
                              .Build(),
                         report),
              Refused("another place", "namespaces"));
}

TEST(Choose, FailsWithoutLandlockOrSeccomp) {
  KernelProbe probe = Good();
  probe.landlock_version = 0;
  probe.landlock_error = EOPNOTSUPP;
  EXPECT_THAT(ChooseTier(Agent(Tier::kLandlock), Of(probe)), Refused("no Landlock", "lsm="));
  EXPECT_THAT(ChooseTier(Agent(Tier::kAuto), Of(probe)), IsOkAndHolds(Tier::kPooled));
  probe = Good();
  probe.seccomp = EINVAL;
  EXPECT_THAT(ChooseTier(Agent(Tier::kAuto), Of(probe)), Refused("load a filter", "SECCOMP"));
}

TEST(Report, OldLandlockIsWeaker) {
  KernelProbe probe = Good();
  probe.landlock_version = 5;
  EXPECT_EQ(Of(probe).landlock.state, Ability::State::kWeaker);
  EXPECT_EQ(Of(Good()).landlock.state, Ability::State::kOk);
}

TEST(Report, ASecondListenerIsToldAsWeaker) {
  KernelProbe probe = Good();
  probe.seccomp_notify = EBUSY;
  EXPECT_EQ(Of(probe).notify.state, Ability::State::kWeaker);
  EXPECT_THAT(Of(probe).notify.reason, HasSubstr("listener"));
}

TEST(Hope, TakesForGrantedWhatOnlyAStartCanTell) {
  const TierReport hoped = HopedTiers(), probed = TierReport::Probe();
  EXPECT_EQ(hoped.tier(Tier::kNamespaces).state, Ability::State::kOk);
  EXPECT_EQ(hoped.notify.state, Ability::State::kOk);
  EXPECT_EQ(hoped.landlock_version, probed.landlock_version);
  EXPECT_EQ(hoped.cgroups.ToText(), probed.cgroups.ToText());
}

}  // namespace
}  // namespace berth
