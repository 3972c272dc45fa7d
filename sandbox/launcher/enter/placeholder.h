// Placeholders: what keeps a name from being made that is not there yet.
//
// Something can only be mounted over what is there. So where a carve-out names a path that does not
// exist, an empty file that nobody may write (a directory, if more of the path is missing) is made
// on the host, and the same is mounted over it, read-only, inside. The host sees an empty file
// while the sandbox runs; the helper removes it once the last process of it is gone. A mark (no
// bytes, no write permission, last changed at the epoch) tells a placeholder from a file of the
// user's, also after a helper was killed: the next sandbox there takes it over. Sandboxes on one
// workspace each hold a shared lock on it: whoever removed it earlier would open a hole in the
// others, since the kernel lets go of what is mounted over a removed name.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_

#include <string>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

struct Placeholder {
  UniqueFd directory;
  std::string name;
  UniqueFd lock;
};

// Makes one, or takes over one that is there; not ok() lock: errno. EEXIST: something else is there
// now. The lock is held as long as a descriptor of it is open.
Placeholder MakePlaceholder(int directory, const std::string& name, bool is_directory);
// Whether `fd` (O_PATH will do) is marked as one.
bool IsPlaceholder(int fd);
// Removes it unless another sandbox has it too, or it is not what we made.
void RemovePlaceholder(const Placeholder& placeholder);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLACEHOLDER_H_
