// What a program has to know of its session's proxy.
#ifndef BERTH_SANDBOX_NETWORK_ENVIRONMENT_H_
#define BERTH_SANDBOX_NETWORK_ENVIRONMENT_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

namespace berth::network {

// The port of the door on a session's own loopback.
inline constexpr uint16_t kProxyPort = 3128;

// 128 bits from the kernel, in hexadecimal. "" if it has none to give.
std::string MakeProxyToken();

// "HTTPS_PROXY=http://berth:TOKEN@127.0.0.1:PORT" and the like, in capitals and not, as programs
// differ. The session's own loopback is reached without it.
std::vector<std::string> ProxyEnvironment(uint16_t port, std::string_view token);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_ENVIRONMENT_H_
