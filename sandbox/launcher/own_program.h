// The helper's own program, to be executed again in another of its modes.
#ifndef BERTH_SANDBOX_LAUNCHER_OWN_PROGRAM_H_
#define BERTH_SANDBOX_LAUNCHER_OWN_PROGRAM_H_

#include <fcntl.h>

namespace berth::launcher {

// Opens it: a new descriptor, or -1 with errno.
using OpenProgram = int (*)();

// Of a process that runs it.
inline int OpenExecutable() { return open("/proc/self/exe", O_RDONLY | O_CLOEXEC); }

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_OWN_PROGRAM_H_
