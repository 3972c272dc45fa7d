// What a program whose system call waits for us has in its memory, and where it is. The program is
// hostile, and may be gone or another at any moment: who asks checks after it that the call still
// waits. Nothing is opened or looked up.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_CALLER_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_CALLER_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>

namespace berth::launcher {

// The string at `address`, without its NUL. False if it cannot be read, is empty or is longer than
// the kernel takes a path.
bool ReadCallersPath(pid_t pid, uint64_t address, std::string* path);

// The same as an absolute path: where it is not one, below what `folder` (a descriptor of the
// caller's or AT_FDCWD) is, as the caller's own root shows it.
bool ReadCallersPath(pid_t pid, int folder, uint64_t address, std::string* path);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_CALLER_H_
