// TreeLimits: the limits of a plan, held for one tree of processes, and how they show in its end.
// Used by the helper: no Abseil, no exceptions. Not thread-safe.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_TREE_LIMITS_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_TREE_LIMITS_H_

#include <poll.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/violations.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

cgroups::GroupLimits LimitsOf(const SandboxPlan& plan);

class TreeLimits {
 public:
  // `tree`: the directory of its group in the v2 tree, or -1; must outlive this. `name`: of its v1
  // groups. Fine, and nothing is made, if there are no limits.
  bool Make(const SandboxPlan& plan, int tree, const std::string& name, Failure* failure);
  bool Make(const cgroups::Layout& layout, const cgroups::GroupLimits& limits, int tree,
            const std::string& name, Failure* failure);
  // What the child has to enter by itself. Valid as long as this is.
  void PutInto(ChildPlan* child) const;
  // Says in the notice which limit ended it, if one did: kOom if it was killed, or says (by a code
  // of 137) that a child of it was, and the memory limit has killed; kPids if it failed, and a fork
  // was refused.
  void Explain(ExitNotice* notice) const;
  // Notes in the log what the limits have stopped since: "oom" for each time, "fork" once.
  void Report(ViolationLog* log);
  // What to wait on before the next Report.
  void AppendPoll(std::vector<pollfd>* fds) const { group_.AppendPoll(fds, !told_fork_); }
  const cgroups::LimitGroup& group() const { return group_; }
  // For another tree with the same limits, once the one before is gone; only if group().separate().
  void UseAgain();
  const cgroups::GroupLimits& limits() const { return limits_; }
  // Once the tree is empty.
  bool Remove() { return group_.Remove() == 0; }

 private:
  cgroups::LimitGroup group_;
  cgroups::GroupLimits limits_;
  int64_t kills_before_ = 0, forks_before_ = 0;  // of trees that used it earlier
  int64_t told_oom_ = 0;
  bool told_fork_ = false;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_TREE_LIMITS_H_
