#include "runtime/doctor/doctor.h"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/doctor/checks.h"
#include "runtime/runtime.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"
#include "sandbox/tiers_from_probe.h"

namespace berth {

absl::string_view CheckStateName(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kWeaker:
      return "weaker";
    case CheckState::kMissing:
      return "missing";
  }
  return "unknown";
}

std::vector<Check> Examine(const DoctorOptions& options) {
  const KernelProbe probe = KernelProbe::Run();
  const TierReport report = TierReportFrom(probe, CgroupReport::Probe());
  const absl::StatusOr<std::unique_ptr<Runtime>> runtime =
      Runtime::Create({.state_dir = options.state_dir});
  std::vector<Check> all;
  for (std::vector<Check>& part : std::vector{
           doctor::Kernel(), doctor::Sandbox(probe, report), doctor::Limits(report.cgroups),
           doctor::Tiers(report), doctor::Engines(runtime), doctor::State(options.state_dir)}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace berth
