// Landlock: what a process may do below which paths, held by the kernel whatever the mounts are.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

// The newest version of Landlock that this kernel has; 0: none.
int LandlockAbi();

// Enforces plan.landlock on the caller, for good. Rights that this kernel does not know are left
// out; a plan of the tier kLandlock fails if the kernel has no Landlock at all. Needs no_new_privs.
// No heap.
bool EnforceLandlock(const SandboxPlan& plan, Failure* failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_
