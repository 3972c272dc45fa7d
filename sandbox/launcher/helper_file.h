// The helper as a file: for engines that start programs by a path and hand on no descriptors.
#ifndef BERTH_SANDBOX_LAUNCHER_HELPER_FILE_H_
#define BERTH_SANDBOX_LAUNCHER_HELPER_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace berth::launcher {

// The name, in the folder `dir_fd`, of a file that is this library's helper to the last byte, is
// the caller's own and may not be written to. Made if it is not there; one that is different is
// replaced. The name carries a sum of the contents, so that two versions do not fight over it.
// The folder must be writable by the caller alone. Any number of threads and processes at once.
absl::StatusOr<std::string> InstallHelper(int dir_fd);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_HELPER_FILE_H_
