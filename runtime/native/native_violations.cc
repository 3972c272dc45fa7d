#include "runtime/native/native_violations.h"

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

std::string NetworkRule(launcher::SandboxNetwork network) {
  switch (network) {
    case launcher::SandboxNetwork::kNone:
      return "network: none";
    case launcher::SandboxNetwork::kHost:
      return "network: host";
    case launcher::SandboxNetwork::kProxy:
      return "network: allow-list";
  }
  return "network";
}

}  // namespace

absl::StatusOr<std::vector<Violation>> ReadViolations(absl::string_view body) {
  launcher::Reader in(body.data(), body.size());
  in.Get<uint64_t>();  // how many there have been
  in.Get<uint64_t>();  // the number of the first
  const uint32_t count = in.Get<uint32_t>();
  std::vector<Violation> violations;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    Violation violation;
    violation.layer = static_cast<Violation::Layer>(in.Get<uint8_t>());
    violation.pid = in.Get<int32_t>();
    violation.when = absl::FromUnixNanos(static_cast<int64_t>(in.Get<uint64_t>()));
    violation.what = in.GetString();
    violation.reason = "system call filter";
    violations.push_back(std::move(violation));
  }
  const std::string rule = NetworkRule(in.Get<launcher::SandboxNetwork>());
  if (!in.done()) return absl::InternalError("the helper's list of violations is malformed");
  for (Violation& violation : violations) {
    if (violation.layer == Violation::Layer::kNetwork) violation.reason = rule;
    if (violation.layer == Violation::Layer::kMemory) violation.reason = "memory limit";
    if (violation.layer == Violation::Layer::kPids) violation.reason = "process limit";
  }
  return violations;
}

std::string TierText(launcher::SandboxTier tier) {
  switch (tier) {
    case launcher::SandboxTier::kNone:
      return "";
    case launcher::SandboxTier::kNamespaces:
      return "namespaces";
    case launcher::SandboxTier::kPooled:
      return "pooled";
    case launcher::SandboxTier::kLandlock:
      return "landlock";
  }
  return "unknown";
}

}  // namespace berth
