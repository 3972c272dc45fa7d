// A wait for something that the engine will tell, as a descriptor: its answer, of which the head
// has been read. It becomes readable when there is something to tell, or the engine is gone.
#ifndef BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_
#define BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/docker/engine_address.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Sends a call and leaves its answer unread. The engine gives up some calls whose connection is
// closed. Unimplemented with TLS, as are the others: what can be read from such a connection need
// not be an answer.
absl::StatusOr<UniqueFd> SendCall(const EngineAddress& address, const std::string& call,
                                  absl::Time deadline);

// `call` is a method and a path with the version: "GET /v1.45/events". NotFound if the engine says
// so; Unavailable if it does not answer until `deadline`.
absl::StatusOr<UniqueFd> OpenStream(const EngineAddress& address, const std::string& call,
                                    absl::Time deadline);

// A container's end. `version` as EngineClient::Version gives it. NotFound if there is no such
// container; Unavailable if the engine does not answer until `deadline`.
absl::StatusOr<UniqueFd> OpenWait(const EngineAddress& address, const std::string& version,
                                  const std::string& container, absl::Time deadline);

// Once readable: the container's exit code. Unavailable if the engine went away instead.
absl::StatusOr<int> ReadWait(int fd);

// As the relay's Connect takes it: names are resolved here, but for those of ssh.
absl::StatusOr<std::string> NumericAddress(const EngineAddress& address);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_WAIT_STREAM_H_
