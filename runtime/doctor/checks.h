// The parts of an examination. Each returns the checks of its area.
#ifndef BERTH_RUNTIME_DOCTOR_CHECKS_H_
#define BERTH_RUNTIME_DOCTOR_CHECKS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/doctor/doctor.h"
#include "runtime/runtime.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"

namespace berth::doctor {

inline Check Ok(std::string area, std::string name, std::string detail) {
  return {.area = std::move(area), .name = std::move(name), .detail = std::move(detail)};
}
inline Check NotOk(CheckState state, std::string area, std::string name, std::string reason,
                   std::string remedy) {
  return {.area = std::move(area),
          .name = std::move(name),
          .state = state,
          .reason = std::move(reason),
          .remedy = std::move(remedy)};
}

std::vector<Check> Kernel();
std::vector<Check> Sandbox(const KernelProbe& probe, const TierReport& report);
std::vector<Check> Limits(const CgroupReport& report);
std::vector<Check> Tiers(const TierReport& report);
std::vector<Check> State(const std::string& state_dir);
// `runtime`: to run programs with, or why there is none.
std::vector<Check> Engines(const absl::StatusOr<std::unique_ptr<Runtime>>& runtime);

}  // namespace berth::doctor

#endif  // BERTH_RUNTIME_DOCTOR_CHECKS_H_
