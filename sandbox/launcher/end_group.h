// Ending a cgroup whose helper is gone. For the host.
#ifndef BERTH_SANDBOX_LAUNCHER_END_GROUP_H_
#define BERTH_SANDBOX_LAUNCHER_END_GROUP_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace berth::launcher {

// Kills all that is in the group `path` (as /proc/PID/cgroup gives it) and below, returns once it
// is gone, and removes the group, and those of v1 hierarchies that have its limits. Fine if there
// is none. The caller has to know that the group is its own. DeadlineExceeded: something in it has
// not ended in time.
absl::Status EndGroup(const std::string& path, absl::Duration limit = absl::Seconds(10));

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_END_GROUP_H_
