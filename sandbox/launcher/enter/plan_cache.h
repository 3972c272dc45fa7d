// PlanCache: the plans that a helper has been given, decoded once. By their bytes: a plan that
// differs in anything is another.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLAN_CACHE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLAN_CACHE_H_

#include <stddef.h>

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

class PlanCache {
 public:
  // Null with *failure for bytes that are no plan, or one that confines nothing or asks for what
  // this helper cannot do.
  std::shared_ptr<const SandboxPlan> Get(std::string_view bytes, Failure* failure);

 private:
  static constexpr size_t kMost = 32;
  struct Entry {
    std::string bytes;
    std::shared_ptr<const SandboxPlan> plan;
  };
  std::list<Entry> entries_;  // the last used first
};

// Decodes and checks, as PlanCache does.
bool ReadPlan(std::string_view bytes, SandboxPlan* plan, Failure* failure);

// The path that the failure is about; "" if none.
std::string PathOf(const SandboxPlan& plan, const Failure& failure);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLAN_CACHE_H_
