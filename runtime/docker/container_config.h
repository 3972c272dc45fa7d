// From a session's description to the container that the engine is asked for: checked, resolved,
// nothing secret in it. The command and the environment are not in it at all: they come through the
// relay when the container starts.
#ifndef BERTH_RUNTIME_DOCKER_CONTAINER_CONFIG_H_
#define BERTH_RUNTIME_DOCKER_CONTAINER_CONFIG_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/engine_address.h"
#include "runtime/record/record.h"
#include "runtime/spec.h"

namespace berth {

// Where the relay is put.
inline constexpr char kInsideFolder[] = "/.berth";
inline constexpr char kInsidePath[] = "/.berth/inside";

// The body of /containers/create, without the labels that say whose it is. `image_id` stands for
// what the name of the image means now. InvalidArgument, naming the thing; FailedPrecondition for
// what a policy forbids and a container could not keep it from, Unimplemented for what docker
// cannot enforce.
absl::StatusOr<nlohmann::json> MakeContainerConfig(const SessionSpec& spec,
                                                   const EngineAddress& address,
                                                   const std::string& image_id);

// The filter of system calls that a policy asks for, on top of the engine's; "" if there is none to
// be. An array of sock_filter.
absl::StatusOr<std::string> MakeFilter(const SessionSpec& spec);

// Equal for equal configurations.
std::string ConfigSum(const nlohmann::json& config);

// Adds the labels to `config`.
void LabelContainer(const Record& record, const SessionSpec& spec, nlohmann::json* config);

// A tar with the relay at kInsidePath, for the engine's archive call at "/".
const std::string& InsideArchive();

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_CONTAINER_CONFIG_H_
