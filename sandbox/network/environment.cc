#include "sandbox/network/environment.h"

#include <sys/random.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/proxy_config.h"

namespace berth::network {

std::string MakeProxyToken() {
  static constexpr char kDigits[] = "0123456789abcdef";
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) return "";
  std::string token;
  for (const unsigned char byte : bytes) {
    token.push_back(kDigits[byte >> 4]);
    token.push_back(kDigits[byte & 15]);
  }
  return token;
}

std::vector<std::string> ProxyEnvironment(uint16_t port, std::string_view token) {
  const std::string place =
      std::string(kProxyUser) + ":" + std::string(token) + "@127.0.0.1:" + std::to_string(port);
  const std::string http = "http://" + place;
  // "h": names are looked up by the proxy; there is nobody else.
  const std::string socks = "socks5h://" + place;
  const std::string own = "localhost,127.0.0.1,::1";
  return {"HTTP_PROXY=" + http, "http_proxy=" + http, "HTTPS_PROXY=" + http, "https_proxy=" + http,
          "ALL_PROXY=" + socks, "all_proxy=" + socks, "NO_PROXY=" + own,     "no_proxy=" + own};
}

}  // namespace berth::network
