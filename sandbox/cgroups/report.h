// CgroupReport: which limits this machine can hold for this user, why not, and what to do. For
// `berth doctor`, and for the translation of a policy's limits.
//
//   const CgroupReport report = CgroupReport::Probe();
//   if (!report.pids.held) LOG(WARNING) << report.pids.reason << "; " << report.pids.remedy;
//
// Probe changes nothing. Plain values; functions are thread-safe.
#ifndef BERTH_SANDBOX_CGROUPS_REPORT_H_
#define BERTH_SANDBOX_CGROUPS_REPORT_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/limits.h"

namespace berth {

struct CgroupReport {
  struct Item {
    bool held = false;        // by a group, of the whole tree
    std::string where = {};   // held: "v1 hierarchy /sys/fs/cgroup/memory", "v2 group '/…'"
    std::string reason = {};  // not held: why
    std::string remedy = {};  // not held: what to do
  };
  std::string layout;  // "v2", "v1", "hybrid", "none"
  Item memory, swap, pids, cpu;

  static CgroupReport Probe();
  static CgroupReport Of(const cgroups::Layout& layout);
  // For people: one line each.
  std::string ToText() const;
};

// How limits are held: by groups where they can be, and otherwise by what is left.
struct LimitPlan {
  struct Rlimit {
    int resource = 0;
    uint64_t value = 0;
  };
  cgroups::GroupLimits group;
  std::vector<Rlimit> rlimits;
  // What is weaker than it was asked for, and by how much: "memory: of each process, not of the
  // tree, by RLIMIT_AS (…)".
  std::vector<std::string> weaker;
};

// memory and pids fall back to rlimits, which are poor: RLIMIT_AS is of each process and counts
// what is mapped, not what is used; RLIMIT_NPROC counts all processes of the user, and not for
// root. Swap and CPU have none: FailedPrecondition, with the remedy. Wall, file sizes and open
// files are not for groups and not in it.
absl::StatusOr<LimitPlan> PlanLimits(const Limits& limits, const CgroupReport& report);

}  // namespace berth

#endif  // BERTH_SANDBOX_CGROUPS_REPORT_H_
