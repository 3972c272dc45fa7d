#include <string>

#include "runtime/docker/relay/tls_tunnel.h"

namespace berth::relay {

UniqueFd OpenTlsTunnel(UniqueFd, const TlsTarget&, int, std::string* error) {
  *error = "this relay has no TLS";
  return UniqueFd();
}

}  // namespace berth::relay
