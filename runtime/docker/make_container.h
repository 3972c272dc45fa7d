// The steps to a container that can be started: its image, one that was kept, or a new one.
#ifndef BERTH_RUNTIME_DOCKER_MAKE_CONTAINER_H_
#define BERTH_RUNTIME_DOCKER_MAKE_CONTAINER_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/images.h"
#include "runtime/record/record.h"
#include "runtime/spec.h"

namespace berth {

// Pulled if it is to be. FailedPrecondition if it is for another kind of machine.
absl::StatusOr<Image> FindImage(EngineClient* client, const ContainerSpec& wanted);

// The id of a container kept from an earlier session of this name, if it was made from the same
// description (see ConfigSum); "" if there is none. One that was not, and does not run, is removed.
absl::StatusOr<std::string> FindKept(EngineClient* client, const Record& record,
                                     const std::string& sum);

// Makes a new one, named and labelled; its id.
absl::StatusOr<std::string> MakeContainer(EngineClient* client, const Record& record,
                                          const SessionSpec& spec, nlohmann::json config);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_MAKE_CONTAINER_H_
