// Mounts in a session's folders, as a program leaves them that was killed while it had something
// mounted there. What a sandbox mounts is in a namespace of its own and goes with its last process.
#ifndef BERTH_REAPER_MOUNTS_H_
#define BERTH_REAPER_MOUNTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace berth::reaper {

// The mount points at `path` and below, of a text like /proc/self/mountinfo; the last mounted
// first.
std::vector<std::string> MountsBelow(absl::string_view mountinfo, absl::string_view path);

// Takes away what is mounted at the folder `name` in `dir_fd` and below it, in this process's mount
// namespace, and leaves what is mounted there to whoever still uses it. Fine if there is nothing.
// FailedPrecondition, naming the mount point, if this user may not unmount it.
absl::Status UnmountBelow(int dir_fd, const std::string& name);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_MOUNTS_H_
