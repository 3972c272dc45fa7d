// Landlock: what a process may do below which paths, held by the kernel whatever the mounts are.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

// The newest version of Landlock that this kernel has; 0: none.
int LandlockAbi();

// Whether the plan has something for Landlock to hold.
bool UsesLandlock(const SandboxPlan& plan);

// What plan.landlock allows, as it is found now: a descriptor, or -1. Rights that this kernel does
// not know are left out; it fails if the kernel has no Landlock at all. No heap.
int MakeRuleset(const SandboxPlan& plan, Failure* failure);

// Enforces plan.landlock on the caller, for good: by `ruleset`, or by one that is made now if that
// is -1. A plan of the tier kLandlock that would hold nothing fails. Needs no_new_privs. No heap.
bool EnforceLandlock(const SandboxPlan& plan, int ruleset, Failure* failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_LANDLOCK_H_
