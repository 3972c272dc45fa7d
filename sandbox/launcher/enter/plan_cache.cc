#include "sandbox/launcher/enter/plan_cache.h"

#include <errno.h>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace berth::launcher {

bool ReadPlan(std::string_view bytes, SandboxPlan* plan, Failure* failure) {
  // A plan without a tier would be a sandbox that is none.
  if (!plan->Decode(bytes) || plan->tier == SandboxTier::kNone) {
    *failure = {Step::kPlan, EINVAL};
    return false;
  }
  // Without a network namespace only the ports of TCP could be kept from it.
  if (plan->network == SandboxNetwork::kProxy && plan->tier == SandboxTier::kLandlock) {
    *failure = {Step::kNetwork, ENOTSUP};
    return false;
  }
  return true;
}

std::shared_ptr<const SandboxPlan> PlanCache::Get(std::string_view bytes, Failure* failure) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->bytes != bytes) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().plan;
  }
  auto plan = std::make_shared<SandboxPlan>();
  if (!ReadPlan(bytes, plan.get(), failure)) return nullptr;
  entries_.push_front({std::string(bytes), std::move(plan)});
  if (entries_.size() > kMost) entries_.pop_back();
  return entries_.front().plan;
}

std::string PathOf(const SandboxPlan& plan, const Failure& failure) {
  if (failure.step == Step::kLandlock) {
    return failure.item < plan.landlock.size() ? plan.landlock[failure.item].path : "";
  }
  if (failure.item >= plan.mounts.size()) return "";
  const SandboxMount& mount = plan.mounts[failure.item];
  return failure.step == Step::kSource ? mount.source : mount.target;
}

}  // namespace berth::launcher
