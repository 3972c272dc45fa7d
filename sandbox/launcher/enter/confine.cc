#include "sandbox/launcher/enter/confine.h"

#include <errno.h>
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

bool Failed(Failure* failure, Step step, int error) {
  failure->step = step;
  failure->error = error;
  return false;
}

bool SetLimits(const SandboxPlan& plan, Failure* failure) {
  for (const SandboxRlimit& limit : plan.rlimits) {
    rlimit value{limit.value, limit.value};
    rlimit now;
    const auto resource = static_cast<__rlimit_resource>(limit.resource);
    if (getrlimit(resource, &now) != 0) return Failed(failure, Step::kLimits, errno);
    // One that is tighter already stays: to loosen it is not ours.
    if (now.rlim_max < value.rlim_max) value.rlim_max = now.rlim_max;
    if (value.rlim_cur > value.rlim_max) value.rlim_cur = value.rlim_max;
    if (setrlimit(resource, &value) != 0) return Failed(failure, Step::kLimits, errno);
  }
  // 1 and not 0: the kernel runs the handler of a core_pattern that begins with '|' whatever the
  // limit is, as root and outside of all namespaces, except where it is 1.
  const rlimit core{1, 1};
  rlimit now;
  if (getrlimit(RLIMIT_CORE, &now) != 0) return Failed(failure, Step::kLimits, errno);
  if (now.rlim_max >= 1 && setrlimit(RLIMIT_CORE, &core) != 0) {
    return Failed(failure, Step::kLimits, errno);
  }
  return true;
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
  const long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (listener < 0) return Failed(failure, Step::kFilter, errno);
  if (!plan.notifies) return true;
  const int fd = static_cast<int>(listener);
  if (const int error = SendReport(report, {.kind = Report::Kind::kListener}, &fd, 1)) {
    return Failed(failure, Step::kReport, error);
  }
  close(fd);
  return true;
}

}  // namespace

bool DropFuturePrivileges(const SandboxPlan& plan, Failure* failure) {
  if (plan.keeps_caps) return true;
  // Both need CAP_SETPCAP. Who lacks it has nothing to give up here, but for an ambient set.
  constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                  SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) != 0 && errno != EPERM) {
    return Failed(failure, Step::kCapabilities, errno);
  }
  for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; ++cap) {
  }
  // EINVAL: past the last one there is. EPERM: no CAP_SETPCAP; checked when all is given up.
  return errno == EINVAL || errno == EPERM || Failed(failure, Step::kCapabilities, errno);
}

bool DropPrivileges(const SandboxPlan& plan, Failure* failure) {
  if (!plan.keeps_caps) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
      return Failed(failure, Step::kCapabilities, errno);
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    if (syscall(SYS_capset, &header, none) != 0) {
      return Failed(failure, Step::kCapabilities, errno);
    }
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed(failure, Step::kCapabilities, errno);
  }
  // uid 0 would get its capabilities back by execve if the bounding set were still there.
  if (!plan.keeps_caps && geteuid() == 0 && prctl(PR_CAPBSET_READ, 0, 0, 0, 0) != 0 &&
      (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) & SECBIT_NOROOT) == 0) {
    return Failed(failure, Step::kCapabilities, EPERM);
  }
  return true;
}

bool Confine(const SandboxPlan& plan, int ruleset, int report, Failure* failure) {
  if (!SetLimits(plan, failure)) return false;
  // Everything of ours is O_CLOEXEC from birth; this is for what is not ours.
  if (CloseRange(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0) {
    return Failed(failure, Step::kStdio, errno);
  }
  if (!EnforceLandlock(plan, ruleset, failure)) return false;
  return LoadFilter(plan, report, failure);
}

}  // namespace berth::launcher
