#include "sandbox/launcher/enter/tree_limits.h"

#include <signal.h>

#include <string>

namespace berth::launcher {
namespace {
// As EndReason of runtime/types.h counts them.
constexpr uint8_t kOom = 6, kPids = 7;
// As Violation::Layer of sandbox/violation.h does.
constexpr uint8_t kMemoryLayer = 4, kPidsLayer = 5;
}  // namespace

cgroups::GroupLimits LimitsOf(const SandboxPlan& plan) {
  return {.memory_bytes = plan.memory_bytes,
          .swap_bytes = plan.swap_bytes,
          .pids = plan.pids,
          .cpu_millis = plan.cpu_millis};
}

bool TreeLimits::Make(const SandboxPlan& plan, int tree, const std::string& name,
                      Failure* failure) {
  return Make(cgroups::Layout::Read(), LimitsOf(plan), tree, name, failure);
}

bool TreeLimits::Make(const cgroups::Layout& layout, const cgroups::GroupLimits& limits, int tree,
                      const std::string& name, Failure* failure) {
  limits_ = limits;
  if (limits_.controllers() == 0) return true;
  const cgroups::LimitGroup::Error error = group_.Make(layout, tree, name, limits_);
  if (error.error == 0) return true;
  *failure = {Step::kLimits, error.error};
  return false;
}

void TreeLimits::UseAgain() {
  group_.Acknowledge();
  kills_before_ = told_oom_ = group_.OomKills();
  forks_before_ = group_.RefusedForks();
  told_fork_ = false;
}

void TreeLimits::PutInto(ChildPlan* child) const {
  child->limit_fds = group_.enter_fds().data();
  child->limit_count = static_cast<int>(group_.enter_fds().size());
}

void TreeLimits::Report(ViolationLog* log) {
  if (!group_.ok()) return;
  group_.Acknowledge();
  const int64_t kills = group_.OomKills();
  if (kills > told_oom_) log->Add(kMemoryLayer, 0, "oom");
  told_oom_ = kills;
  if (!told_fork_ && group_.RefusedForks() > forks_before_) {
    log->Add(kPidsLayer, 0, "fork");
    told_fork_ = true;
  }
}

void TreeLimits::Explain(ExitNotice* notice) const {
  if (!group_.ok() || notice->stopped != 0 || notice->reason != 0) return;
  const bool killed = notice->signal == SIGKILL || notice->code == 128 + SIGKILL;
  const bool failed = notice->signal != 0 || notice->code != 0;
  if (killed && group_.OomKills() > kills_before_) {
    notice->reason = kOom;
  } else if (failed && group_.RefusedForks() > forks_before_) {
    notice->reason = kPids;
  }
}

}  // namespace berth::launcher
