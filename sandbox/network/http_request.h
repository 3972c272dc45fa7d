// The head of a request to an HTTP proxy: CONNECT, or a plain request for an absolute URL.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_HTTP_REQUEST_H_
#define BERTH_SANDBOX_NETWORK_HTTP_REQUEST_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>

#include "sandbox/network/host_name.h"

namespace berth::network {

inline constexpr size_t kMaxHttpHead = 16000;

struct HttpRequest {
  enum class State : uint8_t { kPartial, kMalformed, kComplete };
  State state = State::kPartial;
  size_t head_bytes = 0;  // up to and with the empty line

  bool connect = false;
  std::string target;  // as it was asked for: "example.com:443"
  Host host;           // kInvalid if the target is no host and port
  uint16_t port = 0;
  std::string credentials;  // of "Proxy-Authorization: Basic", still encoded; "" if none came

  // Of a plain request: the head as the server gets it. Its path instead of the URL, Host from the
  // URL, no headers that are for proxies, and `Connection: close`: one request a connection, so
  // that a second one cannot be for another host.
  std::string forward;
  uint64_t body_bytes = 0;
};

// `bytes`: all that came so far. A plain request whose body has no Content-Length is malformed, as
// is everything that two readers could read in two ways: folded headers, two lengths, bare LF,
// Transfer-Encoding.
HttpRequest ReadHttpRequest(std::string_view bytes);

// What "Proxy-Authorization: Basic" has to be.
std::string BasicCredentials(std::string_view user, std::string_view password);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_HTTP_REQUEST_H_
