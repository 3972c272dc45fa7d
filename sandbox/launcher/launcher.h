// Launcher mode: one per Runtime. Starts processes for a host that must not fork, and ends them
// when the host is gone.
#ifndef BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_
#define BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_

#include "sandbox/launcher/own_program.h"

namespace berth::launcher {

struct LauncherSetting {
  OpenProgram open_program = &OpenExecutable;
  int trampoline_fd = -1;  // see trampoline.cc
  // Its host starts one thing: what is left of that is removed at once, and nothing is made ready
  // for another.
  bool once = false;
};

// Serves kControlFd until the other side closes it; the first message there (kTag) has the tag that
// is in the name of its cgroup. Returns the exit code.
int RunLauncher(const LauncherSetting& setting);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_
