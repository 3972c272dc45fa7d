// What a workload gives up before its first instruction. Each step is one that cannot be taken
// back. Called between clone and exec, in memory that may be shared: no heap.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_CONFINE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_CONFINE_H_

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

// What can be executed later gets no privileges by it: uid 0, set-user-id, file capabilities. Those
// that the caller has stay until DropPrivileges, which has to come after it.
bool DropFuturePrivileges(const SandboxPlan& plan, Failure* failure);
// Capabilities, of all sets.
bool DropPrivileges(const SandboxPlan& plan, Failure* failure);

// Limits, Landlock, and the filter, last: so it needs to allow only what comes after it (sendmsg on
// `report`, dup2, execve, exit_group). If the filter notifies, its listener goes to `report`.
// `ruleset`: see EnforceLandlock.
bool Confine(const SandboxPlan& plan, int ruleset, int report, Failure* failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_CONFINE_H_
