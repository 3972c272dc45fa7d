#include "sandbox/launcher/end_group.h"

#include <poll.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/cgroup.h"

namespace berth::launcher {
namespace {
constexpr absl::Duration kKillTime = absl::Seconds(10);
}

absl::Status EndGroup(const std::string& path) {
  Cgroup group = Cgroup::Open(path);
  if (!group.ok()) return absl::OkStatus();
  const absl::Time deadline = absl::Now() + kKillTime;
  while (!group.Empty()) {
    group.Kill();
    ABSL_RETURN_IF_ERROR(WaitFd(group.events_fd(), POLLPRI, deadline, "wait for a killed cgroup"));
  }
  if (!group.Remove())
    return absl::UnavailableError(absl::StrCat("cgroup '", path, "' is still in use"));
  return absl::OkStatus();
}

}  // namespace berth::launcher
