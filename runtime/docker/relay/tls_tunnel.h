// TLS for a relay: a process that encrypts stands between the engine and an ordinary socket, so
// that nothing else of a relay knows of it. Two targets define this: one with a TLS library, for
// engines that want it, and one without, for all others and for the inside, which stay small.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_TLS_TUNNEL_H_
#define BERTH_RUNTIME_DOCKER_RELAY_TLS_TUNNEL_H_

#include <string>

#include "sandbox/base/unique_fd.h"

namespace berth::relay {

struct TlsTarget {
  std::string host;    // whose certificate it must be
  std::string folder;  // with ca.pem, cert.pem and key.pem, as the docker command has them
  bool verify = true;
};

// `connection` leads to the engine. The tunnel ends with either of its sides. Not ok() with *error
// if the two cannot agree.
UniqueFd OpenTlsTunnel(UniqueFd connection, const TlsTarget& target, int limit_ms,
                       std::string* error);

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_TLS_TUNNEL_H_
