// What the kernel gives: made of what sandbox/tiers.h tries, and of what only sessions need.

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/doctor/checks.h"
#include "runtime/doctor/doctor.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

namespace berth::doctor {
namespace {

Check FromAbility(const char* area, const char* name, const Ability& ability) {
  return {.area = area,
          .name = name,
          .state = ability.state == Ability::State::kOk       ? CheckState::kOk
                   : ability.state == Ability::State::kWeaker ? CheckState::kWeaker
                                                              : CheckState::kMissing,
          .detail = ability.detail,
          .reason = ability.reason,
          .remedy = ability.remedy};
}

Check FromLimit(const char* name, const CgroupReport::Item& item) {
  if (item.held) return Ok("limits", name, item.where);
  return NotOk(CheckState::kWeaker, "limits", name, item.reason, item.remedy);
}

Check AppArmor(const KernelProbe& probe, const TierReport& report) {
  constexpr char kName[] = "apparmor";
  if (probe.apparmor_restricts.empty() || probe.apparmor_restricts == "0") {
    return Ok("sandbox", kName, "does not restrict user namespaces");
  }
  if (report.user_namespaces.state == Ability::State::kOk) {
    return Ok("sandbox", kName, "restricts user namespaces, but not of this program");
  }
  return NotOk(CheckState::kMissing, "sandbox", kName, report.user_namespaces.reason,
               report.user_namespaces.remedy);
}

Check Container(const KernelProbe& probe, const TierReport& report) {
  constexpr char kName[] = "container";
  if (!probe.in_container) return Ok("sandbox", kName, "not in one");
  for (const Ability* ability : {&report.user_namespaces, &report.proc}) {
    if (ability->state != Ability::State::kOk) {
      return NotOk(
          CheckState::kWeaker, "sandbox", kName,
          absl::StrCat("berth runs in a container that keeps sandboxes from it: ", ability->reason),
          ability->remedy);
    }
  }
  return Ok("sandbox", kName, "in one, which lets sandboxes be made");
}

}  // namespace

std::vector<Check> Kernel() {
  utsname name{};
  uname(&name);
  std::vector<Check> checks = {Ok("kernel", "linux", name.release)};
  const UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.ok()) {
    checks.push_back(NotOk(CheckState::kMissing, "kernel", "pidfd",
                           absl::StrCat("open a process by descriptor: ", strerrordesc_np(errno)),
                           "use Linux 5.4 or newer; in a container, a seccomp profile that allows "
                           "pidfd_open"));
  } else if (syscall(SYS_pidfd_send_signal, self.get(), 0, nullptr, PIDFD_SIGNAL_PROCESS_GROUP) !=
                 0 &&
             errno == EINVAL) {  // not ESRCH: this process need not lead a group
    checks.push_back(NotOk(CheckState::kWeaker, "kernel", "pidfd",
                           "process groups cannot be signalled by descriptor: Ctrl-C reaches the "
                           "main process of 'berth run' only",
                           "use Linux 6.9 or newer"));
  } else {
    checks.push_back(Ok("kernel", "pidfd", "processes and groups by descriptor"));
  }
  return checks;
}

std::vector<Check> Sandbox(const KernelProbe& probe, const TierReport& report) {
  return {FromAbility("sandbox", "user namespaces", report.user_namespaces),
          AppArmor(probe, report),
          Container(probe, report),
          FromAbility("sandbox", "private /proc", report.proc),
          FromAbility("sandbox", "landlock", report.landlock),
          FromAbility("sandbox", "seccomp", report.seccomp),
          FromAbility("sandbox", "violations of calls", report.notify)};
}

std::vector<Check> Limits(const CgroupReport& report) {
  const Check layout =
      report.layout == "none"
          ? NotOk(CheckState::kWeaker, "limits", "cgroup layout", "no control groups are mounted",
                  "mount -t cgroup2 none /sys/fs/cgroup")
          : Ok("limits", "cgroup layout", report.layout);
  return {layout, FromLimit("memory", report.memory), FromLimit("swap", report.swap),
          FromLimit("pids", report.pids), FromLimit("cpus", report.cpu)};
}

std::vector<Check> Tiers(const TierReport& report) {
  return {FromAbility("tiers", "tier namespaces", report.tier(Tier::kNamespaces)),
          FromAbility("tiers", "tier pooled", report.tier(Tier::kPooled)),
          FromAbility("tiers", "tier landlock", report.tier(Tier::kLandlock))};
}

}  // namespace berth::doctor
