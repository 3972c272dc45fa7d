#include "sandbox/cgroups/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/tree_place.h"

namespace berth {
namespace {

using cgroups::Bit;
using cgroups::Controller;
using cgroups::ControllerName;
using cgroups::Hierarchy;
using cgroups::Layout;

CgroupReport::Item Ask(const Layout& layout, Controller controller) {
  CgroupReport::Item item;
  const Hierarchy& v1 = layout.V1(controller);
  if (v1.mounted()) {
    if (access(v1.point.c_str(), W_OK | X_OK) == 0) {
      item.held = true;
      item.where = absl::StrCat("v1 hierarchy ", v1.point);
    } else {
      item.reason = absl::StrCat("this user may make no groups in ", v1.point, ": ",
                                 strerror(errno));  // NOLINT(concurrency-mt-unsafe)
      item.remedy = "run berth as root, or boot with systemd.unified_cgroup_hierarchy=1";
    }
    return item;
  }
  std::string why;
  const std::string place = cgroups::PlaceFor(layout, Bit(controller), /*probe=*/true, &why);
  if (!place.empty()) {
    item.held = true;
    item.where = absl::StrCat("v2 group '", place, "'");
    return item;
  }
  item.reason = absl::StrCat("no group for ", ControllerName(controller), ": ", why);
  item.remedy = geteuid() == 0
                    ? "mount the cgroup tree with this controller (cgroup_no_v1=all at boot)"
                    : "start berth by `systemd-run --user --scope`, or have the controller "
                      "delegated (Delegate=yes)";
  return item;
}

std::string Line(absl::string_view name, const CgroupReport::Item& item) {
  if (item.held) return absl::StrCat(name, ": by ", item.where, "\n");
  return absl::StrCat(name, ": not for a tree: ", item.reason, "; ", item.remedy, "\n");
}

absl::Status CannotHold(absl::string_view what, const CgroupReport::Item& item) {
  return absl::FailedPreconditionError(
      absl::StrCat("limit ", what, ": ", item.reason, "; ", item.remedy));
}

}  // namespace

CgroupReport CgroupReport::Of(const Layout& layout) {
  CgroupReport report;
  report.layout = layout.Name();
  report.memory = Ask(layout, Controller::kMemory);
  report.pids = Ask(layout, Controller::kPids);
  report.cpu = Ask(layout, Controller::kCpu);
  report.swap = report.memory;
  const Hierarchy& v1 = layout.V1(Controller::kMemory);
  if (v1.mounted() &&
      access(absl::StrCat(v1.point, "/memory.memsw.limit_in_bytes").c_str(), F_OK) != 0) {
    report.swap = {.reason = "the kernel does not account swap",
                   .remedy = "boot with swapaccount=1"};
  }
  return report;
}

CgroupReport CgroupReport::Probe() { return Of(Layout::Read()); }

std::string CgroupReport::ToText() const {
  return absl::StrCat("cgroups: ", layout, "\n", Line("memory", memory), Line("swap", swap),
                      Line("pids", pids), Line("cpu", cpu));
}

absl::StatusOr<LimitPlan> PlanLimits(const Limits& limits, const CgroupReport& report) {
  LimitPlan plan;
  if (limits.memory_bytes >= 0 && report.memory.held) {
    plan.group.memory_bytes = limits.memory_bytes;
  } else if (limits.memory_bytes >= 0) {
    plan.rlimits.push_back({RLIMIT_AS, static_cast<uint64_t>(limits.memory_bytes)});
    plan.weaker.push_back(absl::StrCat(
        "memory: of each process, not of the tree, and of what it maps, by RLIMIT_AS (",
        report.memory.reason, "; ", report.memory.remedy, ")"));
  }
  if (limits.swap_bytes >= 0) {
    if (!report.swap.held) return CannotHold("swap", report.swap);
    plan.group.swap_bytes = limits.swap_bytes;
    // v1 knows the sum of memory and swap only.
    if (limits.memory_bytes < 0) {
      return absl::InvalidArgumentError("a limit of swap needs one of memory");
    }
  }
  if (limits.pids >= 0 && report.pids.held) {
    plan.group.pids = limits.pids;
  } else if (limits.pids >= 0) {
    plan.rlimits.push_back({RLIMIT_NPROC, static_cast<uint64_t>(limits.pids)});
    plan.weaker.push_back(
        absl::StrCat("pids: of all processes of the user, not of the tree, by RLIMIT_NPROC (",
                     report.pids.reason, "; ", report.pids.remedy, ")"));
  }
  if (limits.cpus >= 0) {
    if (!report.cpu.held) return CannotHold("cpus", report.cpu);
    // The kernel's least is 1 ms of each 100.
    if (!(limits.cpus >= 0.01 && limits.cpus <= 1e6)) {
      return absl::InvalidArgumentError("cpus: at least 0.01, and no more than a million");
    }
    plan.group.cpu_millis = llround(limits.cpus * 1000);
  }
  return plan;
}

}  // namespace berth
