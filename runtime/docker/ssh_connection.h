// A connection to the engine of another machine, made as the docker command makes it: an ssh that
// runs `docker system dial-stdio` there, with a socket for its stdin and stdout.
//
//   ABSL_ASSIGN_OR_RETURN(SshConnection connection, OpenSsh(address));
//
// ssh ends when the socket is closed, and with this process, however that ends. It is started by a
// launcher that is there for all such connections of this process from the first one on. It asks
// nobody for anything, unless the environment says SSH_ASKPASS_REQUIRE=force. A shared connection
// (ControlPath in ~/.ssh/config) is taken if there is one, and never made.
//
// Threads: any, at once.
#ifndef BERTH_RUNTIME_DOCKER_SSH_CONNECTION_H_
#define BERTH_RUNTIME_DOCKER_SSH_CONNECTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/docker/engine_address.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

struct SshConnection {
  UniqueFd socket;  // blocks
  UniqueFd errors;  // for SshHint
};

// Returns before ssh has connected: what goes wrong is seen as the socket's end of file, and its
// reason by SshHint.
absl::StatusOr<SshConnection> OpenSsh(const EngineAddress& address);

// "; ssh: " with what it has said, and what to do about it.
std::string SshHint(const EngineAddress& address, int errors);

// The address as a relay's Connect takes it.
std::string SshRelayAddress(const EngineAddress& address);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_SSH_CONNECTION_H_
