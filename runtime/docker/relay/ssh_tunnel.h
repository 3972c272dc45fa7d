// A connection by ssh: its stdin and stdout are one end of a socket. A process of this program
// stands beside each ssh and ends it when the other end is closed, so that a descriptor is all that
// anybody has to hold. The library has it started by its launcher, a relay starts it itself.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_SSH_TUNNEL_H_
#define BERTH_RUNTIME_DOCKER_RELAY_SSH_TUNNEL_H_

#include <string>

#include "sandbox/base/unique_fd.h"

namespace berth::relay {

// Of a process whose stdin and stdout are that end: runs `argv` and returns once the connection or
// it has ended, and it is gone. What went wrong is on stderr.
void RunSsh(char** argv);

// For a relay. `lines` are variables of the environment, an empty line, and the arguments of ssh.
// Not ok() with *error; *errors is where ssh writes its own, see ssh_errors.h.
UniqueFd OpenSshTunnel(const std::string& lines, UniqueFd* errors, std::string* error);

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_SSH_TUNNEL_H_
