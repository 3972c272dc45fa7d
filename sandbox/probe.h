// Tries what the kernel gives us, in children that are thrown away. Raw answers; tiers.h makes
// sense of them.
#ifndef BERTH_SANDBOX_PROBE_H_
#define BERTH_SANDBOX_PROBE_H_

#include <string>

#include "absl/functional/function_ref.h"

namespace berth {

struct KernelProbe {
  // Each is 0 or the errno of the step; later ones are not tried if an earlier one failed.
  // User, mount, pid, ipc, uts, cgroup. Not net: making one takes as long as all the rest, and
  // who can make these can make that unless max_net_namespaces is 0.
  int make_namespaces = 0;
  int map_ids = 0;
  int make_mount = 0;  // a tmpfs, by the mount API of descriptors
  int mount_proc = 0;

  int landlock_version = 0;  // 0: none
  int landlock_error = 0;
  int seccomp = 0;         // loads a filter
  int seccomp_notify = 0;  // loads one with a listener

  // Of /proc/sys; "" if there is no such file.
  std::string apparmor_restricts;   // kernel/apparmor_restrict_unprivileged_userns
  std::string userns_clone;         // kernel/unprivileged_userns_clone
  std::string max_user_namespaces;  // user/max_user_namespaces
  std::string max_net_namespaces;   // user/max_net_namespaces
  bool in_container = false;

  // `meanwhile` is called while the kernel takes apart what was tried.
  static KernelProbe Run(absl::FunctionRef<void()> meanwhile = [] {});
  // Only what the kernel says without a child that tries it; all that one would have tried works.
  static KernelProbe Ask();
};

}  // namespace berth

#endif  // BERTH_SANDBOX_PROBE_H_
