// SOCKS5 (RFC 1928) with a name and a password (RFC 1929), the client's three messages.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_SOCKS_H_
#define BERTH_SANDBOX_NETWORK_SOCKS_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>

#include "sandbox/network/host_name.h"

namespace berth::network {

inline constexpr char kSocksVersion = 5;

enum class SocksState : uint8_t { kPartial, kMalformed, kComplete };

// Which ways to prove who it is the client offers.
struct SocksGreeting {
  SocksState state = SocksState::kPartial;
  size_t bytes = 0;
  bool password = false;
};
SocksGreeting ReadSocksGreeting(std::string_view bytes);

struct SocksLogin {
  SocksState state = SocksState::kPartial;
  size_t bytes = 0;
  std::string user, password;
};
SocksLogin ReadSocksLogin(std::string_view bytes);

struct SocksRequest {
  SocksState state = SocksState::kPartial;
  size_t bytes = 0;
  uint8_t command = 0;  // 1: connect
  std::string target;   // as it was asked for: "example.com:443"
  Host host;            // kInvalid if it is none
  uint16_t port = 0;
};
SocksRequest ReadSocksRequest(std::string_view bytes);

inline constexpr uint8_t kSocksConnect = 1;
// Replies.
inline constexpr uint8_t kSocksDone = 0, kSocksFailed = 1, kSocksDenied = 2, kSocksNoHost = 4,
                         kSocksNoCommand = 7;
std::string SocksReply(uint8_t reply);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_SOCKS_H_
