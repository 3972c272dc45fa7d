#include "sandbox/launcher/end_group.h"

#include <poll.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/cgroup.h"

namespace berth::launcher {
namespace {

// Those with its limits carry its name, and have nobody in them that it had not.
absl::Status RemoveLimits(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const int error = cgroups::RemoveV1Groups(cgroups::Layout::Read(), name);
  if (error == 0) return absl::OkStatus();
  return ErrnoStatus(error, absl::StrCat("remove the groups with the limits of '", path, "'"));
}

}  // namespace

absl::Status EndGroup(const std::string& path, absl::Duration limit) {
  Cgroup group = Cgroup::Open(path);
  if (!group.ok()) return RemoveLimits(path);
  const absl::Time deadline = absl::Now() + limit;
  while (!group.Empty()) {
    group.Kill();
    ABSL_RETURN_IF_ERROR(WaitFd(group.events_fd(), POLLPRI, deadline, "wait for a killed cgroup"));
  }
  if (!group.Remove())
    return absl::UnavailableError(absl::StrCat("cgroup '", path, "' is still in use"));
  return RemoveLimits(path);
}

}  // namespace berth::launcher
