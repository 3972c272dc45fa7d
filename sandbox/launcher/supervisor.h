// The supervisor of one spawned process where no cgroup can be made: a small process between the
// launcher and the program, the subreaper of all that the program starts. It ends when they have
// all ended, and takes them with it when the launcher dies.
#ifndef BERTH_SANDBOX_LAUNCHER_SUPERVISOR_H_
#define BERTH_SANDBOX_LAUNCHER_SUPERVISOR_H_

#include <sys/types.h>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/child.h"

namespace berth::launcher {

// What the launcher sends it: the value of the signal is the grace in milliseconds.
int StopSignal();

// Starts a supervisor that runs `plan` and tells `exit_socket` how it went, once *hold is closed.
// Returns the supervisor's pid, *child and *pidfd of the program; or -1 with plan->error.
pid_t StartSupervised(ChildPlan* plan, int exit_socket, pid_t* child, int* pidfd, UniqueFd* hold);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_SUPERVISOR_H_
