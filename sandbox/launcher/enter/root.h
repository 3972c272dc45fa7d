// Root: what a sandbox of the tiers `namespaces` and `pooled` sees as "/".
//
// A tmpfs of our own, put together from the plan's mounts in their order and then made read-only.
// Built by the first process of a new user and mount namespace, in a copy of its helper's memory.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_

#include <vector>

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/placeholder.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

// Builds it and changes to it; the old root is gone then, and the working directory is "/".
// `placeholders` are what had to be made on the host: also if it fails.
bool EnterNewRoot(const SandboxPlan& plan, std::vector<Placeholder>* placeholders,
                  Failure* failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_
