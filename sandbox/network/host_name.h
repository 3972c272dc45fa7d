// Host: what a client asks to be connected to, in the one form that is compared.
// Used by the helper: no Abseil, no exceptions. A plain value.
#ifndef BERTH_SANDBOX_NETWORK_HOST_NAME_H_
#define BERTH_SANDBOX_NETWORK_HOST_NAME_H_

#include <stdint.h>

#include <string>
#include <string_view>

#include "sandbox/network/address.h"

namespace berth::network {

struct Host {
  enum class Kind : uint8_t { kInvalid, kName, kAddress };
  Kind kind = Kind::kInvalid;
  std::string name;  // kName: lower case, without a dot at the end
  Address address;   // kAddress

  std::string ToString() const;
  friend bool operator==(const Host&, const Host&) = default;
};

// Names: ASCII only, so that an international one is compared in its A-label form ("xn--…") and a
// look-alike letter is no letter; letters, digits, '-' and '_', labels of 1 to 63, 253 in all. A
// name whose last label is a number is none: resolvers of the C library take "0x7f.1" and
// "2130706433" for addresses. Addresses: as ParseAddress, IPv6 in brackets or not.
Host ParseHost(std::string_view text);

// "host:port", "[::1]:port"; without a port it is `default_port`, and if that is 0 it is an error.
bool ParseHostPort(std::string_view text, uint16_t default_port, Host* host, uint16_t* port);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_HOST_NAME_H_
