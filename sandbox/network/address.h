// Address: an IP address, and whether it is one of the public Internet.
// Used by the helper: no Abseil, no exceptions. A plain value.
#ifndef BERTH_SANDBOX_NETWORK_ADDRESS_H_
#define BERTH_SANDBOX_NETWORK_ADDRESS_H_

#include <stdint.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>

namespace berth::network {

struct Address {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};  // of IPv4 the first four

  friend bool operator==(const Address&, const Address&) = default;
};

// Strictly "1.2.3.4" or "2001:db8::1"; no octal, no short forms, no zones, no brackets.
bool ParseAddress(std::string_view text, Address* address);
std::string ToString(const Address& address);

// False for loopback, private, link-local (with the clouds' metadata services), shared, multicast,
// reserved and documentation addresses; and for IPv6 addresses that lead to one of those in IPv4
// (mapped, NAT64, 6to4), or to any by a tunnel of Teredo.
bool IsPublic(const Address& address);

// For connect; returns the length.
socklen_t ToSockaddr(const Address& address, uint16_t port, sockaddr_storage* out);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_ADDRESS_H_
