// What is known of a session's container: by what its relay wrote down, or by what the engine says.
#ifndef BERTH_RUNTIME_DOCKER_CONTAINER_TRUTH_H_
#define BERTH_RUNTIME_DOCKER_CONTAINER_TRUTH_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth {

struct ContainerTruth {
  SessionState state = SessionState::kUnknown;
  ExitStatus exit;     // if kExited
  std::string reason;  // what was seen, or why nothing was
};

// The end as the relay wrote it down, which knows more of it than the engine.
std::optional<ExitStatus> WrittenEnd(const Store& store, const std::string& uid);

// From the engine's answer to /containers/ID/json, or why there is none.
ContainerTruth TruthOfInspect(const absl::StatusOr<nlohmann::json>& answer);

// From an entry of /containers/json. Nothing for one that has ended: a list tells neither its code
// nor why.
std::optional<ContainerTruth> TruthOfListing(const nlohmann::json& entry);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_CONTAINER_TRUTH_H_
