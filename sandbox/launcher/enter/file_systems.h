// The file systems that a sandbox has for itself: private tmpfs, /proc and a small /dev.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_FILE_SYSTEMS_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_FILE_SYSTEMS_H_

#include <stdint.h>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

// A tmpfs, attached nowhere. `size` 0: the kernel's default. Not ok(): errno.
UniqueFd MakeTmpfs(uint64_t size, const char* mode, uint64_t attributes);

// Mounts /proc of this pid namespace on `target`. What is not about processes is read-only (with or
// without capabilities: some of its files ask for the user alone, and the caller may be root).
// 0 or an errno; EPERM: something is mounted over parts of the /proc that the caller sees, as in
// many containers, and the kernel will not show them by a fresh one.
int MountProc(int target);

// Mounts on `target` a /dev with null, zero, full, random, urandom and tty of the host, and
// terminals of its own: *dev. 0 or an errno.
int MountDev(int target, UniqueFd* dev);
// Gives it a private /dev/shm of `size`, and makes it read-only. 0 or an errno.
int FinishDev(int dev, uint64_t size);

// Copy-on-write: not ok(): errno. The three by descriptor.
UniqueFd MakeOverlay(int lower, int upper, int work, uint64_t attributes);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_FILE_SYSTEMS_H_
