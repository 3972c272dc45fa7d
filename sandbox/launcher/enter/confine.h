// What a workload gives up before its first instruction. Each step is one that cannot be taken
// back. Called between clone and exec, in memory that may be shared with one that runs beside: no
// heap, and raw calls, since errno is shared, too. (Landlock's are not: see UsesLandlock.)
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

struct ConfineFds {
  int ruleset = -1;  // see EnforceLandlock
  int report = -1;   // where the filter's listener goes, if it notifies
  int keep = -1;     // stays open when the next program is executed; all others above 2 do not
};

// Limits, Landlock, and the filter, last: so it needs to allow only what comes after it (sendmsg on
// `report`, execve, exit_group).
bool Confine(const SandboxPlan& plan, const ConfineFds& fds, Failure* failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_CONFINE_H_
