#include "sandbox/network/drop_rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/base/unique_fd.h"

namespace berth::network {
namespace {

// Rights of Landlock's first version: a later kernel's are refused with them where it matters, as
// no file can be opened at all.
constexpr uint64_t kAllFileRights = (1u << 13) - 1;

int Lower(int resource, rlim_t value) {
  rlimit limit;
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return errno;
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, value);
  return setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 ? 0 : errno;
}

int OpenNoFiles() {
  landlock_ruleset_attr attributes;
  memset(&attributes, 0, sizeof(attributes));
  attributes.handled_access_fs = kAllFileRights;
  const UniqueFd rules(static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes.handled_access_fs), 0)));
  if (!rules.ok()) return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
  return syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0 ? 0 : errno;
}

int DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2];
  memset(none, 0, sizeof(none));
  return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

}  // namespace

int DropRights(uint64_t descriptors) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (const int error = OpenNoFiles()) return error;
  if (const int error = Lower(RLIMIT_NOFILE, descriptors)) return error;
  if (const int error = Lower(RLIMIT_CORE, 0)) return error;
  if (const int error = Lower(RLIMIT_NPROC, 0)) return error;
  return DropCapabilities();
}

}  // namespace berth::network
