#include "sandbox/tiers.h"

#include <errno.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "sandbox/probe.h"
#include "sandbox/tiers_from_probe.h"

namespace berth {
namespace {

using State = Ability::State;

std::string Error(int error) { return strerrordesc_np(error) ? strerrordesc_np(error) : "?"; }

Ability Missing(std::string reason, std::string remedy) {
  return {.state = State::kMissing, .reason = std::move(reason), .remedy = std::move(remedy)};
}

Ability UserNamespaces(const KernelProbe& probe) {
  if (probe.max_net_namespaces == "0") {
    return Missing("user.max_net_namespaces is 0", "sysctl -w user.max_net_namespaces=15000");
  }
  if (probe.make_namespaces == 0 && probe.map_ids == 0 && probe.make_mount == 0) {
    return {.detail = "made and used"};
  }
  if (probe.max_user_namespaces == "0") {
    return Missing("user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000");
  }
  if (probe.userns_clone == "0") {
    return Missing("kernel.unprivileged_userns_clone is 0",
                   "sysctl -w kernel.unprivileged_userns_clone=1");
  }
  if (probe.apparmor_restricts == "1") {
    return Missing(
        "AppArmor keeps user namespaces from programs without a profile for them "
        "(kernel.apparmor_restrict_unprivileged_userns is 1)",
        "give the program an AppArmor profile with 'userns,', or sysctl -w "
        "kernel.apparmor_restrict_unprivileged_userns=0");
  }
  const absl::string_view remedy =
      probe.in_container
          ? "run the container with --security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined, or use the tier landlock"
          : "run outside of a chroot, on a kernel with user namespaces (CONFIG_USER_NS, Linux "
            "5.12 or newer), or use the tier landlock";
  if (probe.make_namespaces != 0) {
    return Missing(absl::StrCat("make namespaces: ", Error(probe.make_namespaces)),
                   std::string(remedy));
  }
  if (probe.map_ids != 0) {
    return Missing(absl::StrCat("map ids in a user namespace: ", Error(probe.map_ids)),
                   std::string(remedy));
  }
  return Missing(absl::StrCat("mount in a user namespace: ", Error(probe.make_mount)),
                 std::string(remedy));
}

Ability Proc(const KernelProbe& probe, const Ability& namespaces) {
  if (namespaces.state != State::kOk) {
    return Missing("it takes user namespaces", "see user namespaces");
  }
  if (probe.mount_proc == 0) return {.detail = "mounted"};
  return Missing(
      absl::StrCat("mount /proc in a pid namespace: ", Error(probe.mount_proc),
                   "; something is mounted over parts of the /proc here, as in containers"),
      "run the container with --security-opt systempaths=unconfined, or use the tier landlock");
}

Ability Landlock(const KernelProbe& probe) {
  if (probe.landlock_version == 0) {
    return Missing(
        absl::StrCat("the kernel has no Landlock: ", Error(probe.landlock_error)),
        probe.landlock_error == EOPNOTSUPP
            ? "add landlock to lsm= on the kernel's command line"
            : "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK; in a container, a seccomp "
              "profile that allows it");
  }
  Ability ability{.detail = absl::StrCat("version ", probe.landlock_version)};
  if (probe.landlock_version < 3) {
    ability.state = State::kWeaker;
    ability.reason = "before version 3 files outside can be truncated, where their modes allow it";
    ability.remedy = "use Linux 6.2 or newer";
  } else if (probe.landlock_version < 6) {
    ability.state = State::kWeaker;
    ability.reason =
        "before version 6 processes of the same user can be signalled, and abstract sockets "
        "reached";
    ability.remedy = "use Linux 6.12 or newer";
  }
  return ability;
}

Ability Seccomp(const KernelProbe& probe) {
  if (probe.seccomp == 0) return {.detail = "filters"};
  return Missing(absl::StrCat("load a filter: ", Error(probe.seccomp)),
                 "use a kernel with CONFIG_SECCOMP_FILTER");
}

Ability Notify(const KernelProbe& probe) {
  if (probe.seccomp_notify == 0) return {.detail = "user notification"};
  Ability ability{.state = State::kWeaker};
  if (probe.seccomp_notify == EBUSY) {
    ability.reason = "this runs in a sandbox that has a listener of its own already";
    ability.remedy = "run outside of it; calls are refused here too, but not told";
  } else {
    ability.reason = absl::StrCat("load a filter with a listener: ", Error(probe.seccomp_notify));
    ability.remedy = "use Linux 5.0 or newer; calls are refused here too, but not told";
  }
  return ability;
}

std::string Sentence(absl::string_view what, const Ability& ability) {
  return absl::StrCat(what, " cannot be enforced here: ", ability.reason,
                      ". Remedy: ", ability.remedy);
}

Ability FromLimit(const CgroupReport::Item& item) {
  if (item.held) return {.detail = item.where};
  return {.state = State::kWeaker, .reason = item.reason, .remedy = item.remedy};
}

}  // namespace

absl::string_view AbilityStateName(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kWeaker:
      return "weaker";
    case State::kMissing:
      return "missing";
  }
  return "unknown";
}

TierReport TierReportFrom(const KernelProbe& probe, CgroupReport cgroups) {
  TierReport report;
  report.user_namespaces = UserNamespaces(probe);
  report.proc = Proc(probe, report.user_namespaces);
  report.landlock = Landlock(probe);
  report.landlock_version = probe.landlock_version;
  report.seccomp = Seccomp(probe);
  report.notify = Notify(probe);
  report.cgroups = std::move(cgroups);
  return report;
}

TierReport TierReport::Probe() {
  CgroupReport cgroups;
  const KernelProbe probe = KernelProbe::Run([&cgroups] { cgroups = CgroupReport::Probe(); });
  return TierReportFrom(probe, std::move(cgroups));
}

TierReport HopedTiers() { return TierReportFrom(KernelProbe::Ask(), CgroupReport::Probe()); }

Ability TierReport::tier(Tier which) const {
  switch (which) {
    case Tier::kNamespaces:
    case Tier::kPooled:
      if (user_namespaces.state == State::kMissing) return user_namespaces;
      if (proc.state == State::kMissing) return proc;
      if (seccomp.state == State::kMissing) return seccomp;
      return {.detail = "all of a policy"};
    case Tier::kLandlock: {
      if (landlock.state == State::kMissing) return landlock;
      if (seccomp.state == State::kMissing) return seccomp;
      Ability ability = landlock;
      ability.state = State::kWeaker;
      ability.detail =
          "files, calls, sockets; no carve-outs, no private /tmp, /proc is the host's, names and "
          "modes of files outside are not guarded";
      if (ability.reason.empty()) {
        ability.reason = "Landlock only adds up what is allowed";
        ability.remedy = "use the tier namespaces";
      }
      return ability;
    }
    case Tier::kAuto:
      break;
  }
  const Ability namespaces = tier(Tier::kNamespaces);
  return namespaces.state == State::kOk ? namespaces : tier(Tier::kLandlock);
}

std::vector<std::pair<std::string, Ability>> TierReport::All() const {
  return {{"tier namespaces", tier(Tier::kNamespaces)},
          {"tier pooled", tier(Tier::kPooled)},
          {"tier landlock", tier(Tier::kLandlock)},
          {"user namespaces", user_namespaces},
          {"private /proc", proc},
          {"landlock", landlock},
          {"seccomp", seccomp},
          {"violations of calls", notify},
          {"limit of memory", FromLimit(cgroups.memory)},
          {"limit of swap", FromLimit(cgroups.swap)},
          {"limit of pids", FromLimit(cgroups.pids)},
          {"limit of cpus", FromLimit(cgroups.cpu)}};
}

std::vector<std::string> LandlockGaps(const Policy& policy) {
  std::vector<std::string> gaps;
  for (const Policy::Path& path : policy.paths()) {
    if (path.access == Policy::Access::kCarve) {
      gaps.push_back("carve-outs of writable folders");
      break;
    }
  }
  for (const Policy::Path& path : policy.paths()) {
    if (path.access == Policy::Access::kHidden) {
      gaps.push_back("hidden parts of folders that are seen");
      break;
    }
  }
  if (!policy.tmpfs().empty() || policy.private_home()) gaps.push_back("private folders");
  if (!policy.host_pid_namespace()) gaps.push_back("a private /proc");
  return gaps;
}

namespace {

// What no declared weakness covers: the policy would mean something else.
absl::Status LandlockCannot(const Policy& policy) {
  absl::string_view what;
  for (const Policy::Path& path : policy.paths()) {
    if (path.access == Policy::Access::kCopyOnWrite) what = "a copy-on-write folder";
    if (!path.inside.empty()) what = "a path that is seen at another place";
  }
  if (policy.network() == Policy::Network::kAllowList) what = "an allow-list of domains";
  if (policy.nested_user_namespaces()) what = "nested user namespaces";
  if (what.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      what, " cannot be enforced by the tier landlock. Remedy: use the tier namespaces"));
}

}  // namespace

absl::StatusOr<Tier> ChooseTier(const Policy& policy, const TierReport& report) {
  if (!policy.seccomp_off() && report.seccomp.state == State::kMissing) {
    return absl::FailedPreconditionError(Sentence("a policy", report.seccomp));
  }
  Tier tier = policy.tier();
  const Ability namespaces = report.tier(Tier::kNamespaces);
  if (tier == Tier::kAuto) {
    // Encloses as the tier namespaces does, and starts sooner.
    if (namespaces.state == State::kOk) return Tier::kPooled;
    const std::vector<std::string> gaps = LandlockGaps(policy);
    if (!gaps.empty() || report.landlock.state == State::kMissing) {
      return absl::FailedPreconditionError(
          absl::StrCat(Sentence("this policy", namespaces),
                       report.landlock.state == State::kMissing
                           ? ""
                           : absl::StrCat(". Or ask for the tier landlock, which does not hold: ",
                                          absl::StrJoin(gaps, ", "))));
    }
    tier = Tier::kLandlock;
  }
  if (const Ability ability = report.tier(tier); ability.state == State::kMissing) {
    return absl::FailedPreconditionError(
        Sentence(absl::StrCat("the tier ", TierName(tier)), ability));
  }
  if (tier == Tier::kLandlock) {
    if (absl::Status cannot = LandlockCannot(policy); !cannot.ok()) return cannot;
  }
  return tier;
}

}  // namespace berth
