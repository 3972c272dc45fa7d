// Running the embedded helper from a host of any size and any number of threads.
#ifndef BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
#define BERTH_SANDBOX_LAUNCHER_START_HELPER_H_

#include <string>

#include "absl/status/statusor.h"
#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

// Runs the helper in launcher mode. Returns the other end of its control socket. It is not a child
// of this process. `tag` is in the name of the cgroup that it makes.
absl::StatusOr<UniqueFd> StartHelper(const std::string& tag);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_START_HELPER_H_
