#include "sandbox/network/socks.h"

#include <string.h>

#include <string>
#include <string_view>

namespace berth::network {
namespace {
uint8_t At(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }
}  // namespace

SocksGreeting ReadSocksGreeting(std::string_view bytes) {
  SocksGreeting greeting;
  if (!bytes.empty() && bytes[0] != kSocksVersion) greeting.state = SocksState::kMalformed;
  if (bytes.size() < 2 || greeting.state != SocksState::kPartial) return greeting;
  const size_t methods = At(bytes, 1);
  if (bytes.size() < 2 + methods) return greeting;
  greeting.bytes = 2 + methods;
  greeting.password = bytes.substr(2, methods).find('\x02') != std::string_view::npos;
  greeting.state = SocksState::kComplete;
  return greeting;
}

SocksLogin ReadSocksLogin(std::string_view bytes) {
  SocksLogin login;
  if (!bytes.empty() && bytes[0] != 1) login.state = SocksState::kMalformed;
  if (bytes.size() < 2 || login.state != SocksState::kPartial) return login;
  const size_t user = At(bytes, 1);
  if (bytes.size() < 3 + user) return login;
  const size_t password = At(bytes, 2 + user);
  if (bytes.size() < 3 + user + password) return login;
  login.user = bytes.substr(2, user);
  login.password = bytes.substr(3 + user, password);
  login.bytes = 3 + user + password;
  login.state = SocksState::kComplete;
  return login;
}

SocksRequest ReadSocksRequest(std::string_view bytes) {
  SocksRequest request;
  if (!bytes.empty() && bytes[0] != kSocksVersion) request.state = SocksState::kMalformed;
  if (bytes.size() < 5 || request.state != SocksState::kPartial) return request;
  request.command = At(bytes, 1);
  size_t at = 4, size = 0;
  const uint8_t type = At(bytes, 3);
  if (type == 1) {
    size = 4;
  } else if (type == 4) {
    size = 16;
  } else if (type == 3) {
    size = At(bytes, 4);
    at = 5;
  }
  if (size == 0) {
    request.state = SocksState::kMalformed;
    return request;
  }
  if (bytes.size() < at + size + 2) return request;
  if (type == 3) {
    const std::string_view name = bytes.substr(at, size);
    request.host = ParseHost(name);
    request.target = name;
  } else {
    request.host.kind = Host::Kind::kAddress;
    request.host.address.v6 = type == 4;
    memcpy(request.host.address.bytes.data(), bytes.data() + at, size);
    request.target = request.host.ToString();
  }
  request.port = static_cast<uint16_t>(At(bytes, at + size) << 8 | At(bytes, at + size + 1));
  request.target += ":" + std::to_string(request.port);
  request.bytes = at + size + 2;
  request.state = SocksState::kComplete;
  return request;
}

std::string SocksReply(uint8_t reply) {
  // The address that was bound is nobody's business: 0.0.0.0:0.
  std::string out(10, '\0');
  out[0] = kSocksVersion;
  out[1] = static_cast<char>(reply);
  out[3] = 1;
  return out;
}

}  // namespace berth::network
