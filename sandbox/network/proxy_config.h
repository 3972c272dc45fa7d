// What a proxy is told, and what it tells: the messages on its control socket (sandbox/launcher's
// wire format). Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_PROXY_CONFIG_H_
#define BERTH_SANDBOX_NETWORK_PROXY_CONFIG_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/wire.h"

namespace berth::network {

enum ProxyMessage : uint16_t {
  // From the owner, once: a ProxyConfig. Answer: kProxyReady.
  kProxyConfigure = 200,
  // str: "" if it serves from now on, otherwise why not.
  kProxyReady = 201,
  // Descriptor: a listening TCP socket, which the proxy accepts from until its end. From the owner,
  // or from inside of the session's network namespace (see listener.h). No answer.
  kProxyListen = 202,
  // From the proxy: str what was tried ("connect evil.org:443"), str the rule that stopped it, u32
  // how many more there were before it that the owner had no room for.
  kProxyDenied = 203,
};

// The reason of most denials.
inline constexpr char kNotListed[] = "not on the list of domains";

// argv[1] of the helper that is to be a proxy; descriptor 3 is its control socket.
inline constexpr char kProxyMode[] = "proxy";

// The user of the credentials; the password is the token.
inline constexpr char kProxyUser[] = "berth";

struct ProxyConfig {
  std::vector<std::string> rules;  // as AllowList reads them
  std::string token;
  std::vector<std::string> resolvers;  // "address:port"; none: those of /etc/resolv.conf
  uint32_t max_connections = 128;

  std::string Encode() const;
  bool Decode(const launcher::Message& message);
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_PROXY_CONFIG_H_
