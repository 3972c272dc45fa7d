// A wait for a container's end as a descriptor: the engine's answer to /wait, of which the head has
// been read. It becomes readable when the container has ended, or the engine is gone.
#ifndef BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_
#define BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/docker/engine_address.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// `version` as EngineClient::Version gives it. NotFound if there is no such container; Unavailable
// if the engine does not answer until `deadline`.
absl::StatusOr<UniqueFd> OpenWait(const EngineAddress& address, const std::string& version,
                                  const std::string& container, absl::Time deadline);

// Once readable: the container's exit code. Unavailable if the engine went away instead.
absl::StatusOr<int> ReadWait(int fd);

// "unix:/path" or "tcp:ADDRESS:PORT", as the relay takes it: names are resolved here.
absl::StatusOr<std::string> NumericAddress(const EngineAddress& address);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_
