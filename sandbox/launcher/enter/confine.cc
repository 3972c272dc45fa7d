#include "sandbox/launcher/enter/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/enter/landlock.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, for older headers.
constexpr unsigned kWaitKillable = 1 << 5;

bool Failed(Failure* failure, Step step, int error) {
  failure->step = step;
  failure->error = error;
  return false;
}

// 0 or an errno, as all of these.
int Limit(int resource, const rlimit* value, rlimit* now) {
  return static_cast<int>(-RawCall(SYS_prlimit64, 0, resource, RawPointer(value), RawPointer(now)));
}

long Prctl(int option, unsigned long a, unsigned long b = 0) {
  return RawCall(SYS_prctl, option, static_cast<long>(a), static_cast<long>(b));
}

bool SetLimits(const SandboxPlan& plan, Failure* failure) {
  for (const SandboxRlimit& limit : plan.rlimits) {
    rlimit value{limit.value, limit.value};
    rlimit now;
    if (const int error = Limit(limit.resource, nullptr, &now)) {
      return Failed(failure, Step::kLimits, error);
    }
    // One that is tighter already stays: to loosen it is not ours.
    if (now.rlim_max < value.rlim_max) value.rlim_max = now.rlim_max;
    if (value.rlim_cur > value.rlim_max) value.rlim_cur = value.rlim_max;
    if (const int error = Limit(limit.resource, &value, nullptr)) {
      return Failed(failure, Step::kLimits, error);
    }
  }
  // 1 and not 0: the kernel runs the handler of a core_pattern that begins with '|' whatever the
  // limit is, as root and outside of all namespaces, except where it is 1.
  const rlimit core{1, 1};
  rlimit now;
  int error = Limit(RLIMIT_CORE, nullptr, &now);
  if (error == 0 && now.rlim_max >= 1) error = Limit(RLIMIT_CORE, &core, nullptr);
  return error == 0 || Failed(failure, Step::kLimits, error);
}

bool LoadFilter(const SandboxPlan& plan, int report, Failure* failure) {
  if (plan.filter.empty()) return true;
  const size_t count = plan.filter.size() / sizeof(sock_filter);
  if (plan.filter.size() % sizeof(sock_filter) != 0 || count > BPF_MAXINSNS) {
    return Failed(failure, Step::kFilter, EINVAL);
  }
  sock_fprog program;
  program.len = static_cast<unsigned short>(count);
  program.filter =
      const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(plan.filter.data()));
  const unsigned flags = plan.notifies ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  // From Linux 5.19 on a call that was taken up is not given up for a signal: no program expects
  // that of an open.
  const unsigned steady = plan.told_calls.empty() ? 0 : kWaitKillable;
  const auto load = [&program](unsigned how) {
    return RawCall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, how, RawPointer(&program));
  };
  long listener = load(flags | steady);
  if (listener == -EINVAL && steady != 0) listener = load(flags);
  if (listener < 0) return Failed(failure, Step::kFilter, static_cast<int>(-listener));
  if (!plan.notifies) return true;
  const int fd = static_cast<int>(listener);
  if (const int error = SendReport(report, {.kind = Report::Kind::kListener}, &fd, 1)) {
    return Failed(failure, Step::kReport, error);
  }
  RawCall(SYS_close, fd);
  return true;
}

}  // namespace

bool DropFuturePrivileges(const SandboxPlan& plan, Failure* failure) {
  if (plan.keeps_caps) return true;
  // Both need CAP_SETPCAP. Who lacks it has nothing to give up here, but for an ambient set.
  constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                  SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  long error = -Prctl(PR_SET_SECUREBITS, kBits);
  if (error != 0 && error != EPERM) {
    return Failed(failure, Step::kCapabilities, static_cast<int>(error));
  }
  for (unsigned long cap = 0; (error = -Prctl(PR_CAPBSET_DROP, cap)) == 0; ++cap) {
  }
  // EINVAL: past the last one there is. EPERM: no CAP_SETPCAP; checked when all is given up.
  return error == EINVAL || error == EPERM ||
         Failed(failure, Step::kCapabilities, static_cast<int>(error));
}

bool DropPrivileges(const SandboxPlan& plan, Failure* failure) {
  long error = 0;
  if (!plan.keeps_caps) {
    error = -Prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    if (error == 0) error = -RawCall(SYS_capset, RawPointer(&header), RawPointer(none));
  }
  if (error == 0) error = -Prctl(PR_SET_NO_NEW_PRIVS, 1);
  if (error != 0) return Failed(failure, Step::kCapabilities, static_cast<int>(error));
  // uid 0 would get its capabilities back by execve if the bounding set were still there.
  if (!plan.keeps_caps && geteuid() == 0 && Prctl(PR_CAPBSET_READ, 0) != 0 &&
      (Prctl(PR_GET_SECUREBITS, 0) & SECBIT_NOROOT) == 0) {
    return Failed(failure, Step::kCapabilities, EPERM);
  }
  return true;
}

bool Confine(const SandboxPlan& plan, const ConfineFds& fds, Failure* failure) {
  if (!SetLimits(plan, failure)) return false;
  // Everything of ours is O_CLOEXEC from birth; this is for what is not ours.
  long error = -RawCall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
  // Before the filter, which may refuse it.
  if (error == 0 && fds.keep >= 0) error = -RawCall(SYS_fcntl, fds.keep, F_SETFD, 0);
  if (error != 0) return Failed(failure, Step::kStdio, static_cast<int>(error));
  if (!EnforceLandlock(plan, fds.ruleset, failure)) return false;
  return LoadFilter(plan, fds.report, failure);
}

}  // namespace berth::launcher
