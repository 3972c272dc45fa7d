// What this machine can enforce, why not, and what to do about it.
//
//   const TierReport report = TierReport::Probe();   // some milliseconds; once is enough
//   ABSL_ASSIGN_OR_RETURN(Tier tier, ChooseTier(policy, report));
//
// Probing tries the real thing in children that are thrown away, and changes nothing: kernel
// versions say little (distributions, containers and AppArmor take features away). The caller is
// not forked. Plain values; functions are thread-safe.
#ifndef BERTH_SANDBOX_TIERS_H_
#define BERTH_SANDBOX_TIERS_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/policy.h"

namespace berth {

// One thing that a policy can need.
struct Ability {
  enum class State : uint8_t { kOk = 0, kWeaker = 1, kMissing = 2 };
  State state = State::kOk;
  std::string detail = {};  // what there is: "version 7"
  std::string reason = {};  // not kOk: why
  std::string remedy = {};  // not kOk: what to do
};
// "ok", "weaker", "missing".
absl::string_view AbilityStateName(Ability::State state);

struct TierReport {
  Ability user_namespaces;  // made, and usable: ids mapped, mounts made
  Ability proc;             // a /proc of its own
  Ability landlock;
  int landlock_version = 0;
  Ability seccomp;
  Ability notify;  // refused calls are told
  CgroupReport cgroups;

  static TierReport Probe();

  // Whether a tier can be had, and what it cannot hold.
  Ability tier(Tier tier) const;
  // All of it, named, in the order to show it in.
  std::vector<std::pair<std::string, Ability>> All() const;
};

// The tier to enforce `policy` with. FailedPrecondition, with the reason and the remedy, if what it
// asks for cannot be enforced. Tier::kAuto never becomes one that would leave out a part of the
// policy: that has to be asked for by name.
absl::StatusOr<Tier> ChooseTier(const Policy& policy, const TierReport& report);

// What of `policy` the tier kLandlock cannot hold, for people; empty: nothing.
std::vector<std::string> LandlockGaps(const Policy& policy);

}  // namespace berth

#endif  // BERTH_SANDBOX_TIERS_H_
