// Lookup: the addresses of one name, asked of DNS servers without blocking.
// Used by the helper: no Abseil, no exceptions. Not thread-safe.
#ifndef BERTH_SANDBOX_NETWORK_LOOKUP_H_
#define BERTH_SANDBOX_NETWORK_LOOKUP_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/network/address.h"

namespace berth::network {

struct DnsServer {
  Address address;
  uint16_t port = 53;
};

// The `nameserver` lines of a resolv.conf; the C library's default, 127.0.0.1, if there is none.
std::vector<DnsServer> ReadResolvConf(std::string_view text);

class Lookup {
 public:
  enum class State : uint8_t { kWaiting, kFound, kNone, kFailed };

  // `servers` must outlive this.
  Lookup(const std::vector<DnsServer>* servers, std::string name);

  // Reads what has come; asks again, or another server, when it is time.
  State Advance(uint64_t now_ns);
  // Wait for POLLIN on it, until the deadline.
  int fd() const { return socket_.get(); }
  uint64_t deadline_ns() const { return deadline_; }
  // kFound. IPv4 if there are any.
  const std::vector<Address>& addresses() const { return addresses_; }

 private:
  void Ask(uint64_t now_ns);

  const std::vector<DnsServer>* servers_;
  const std::string name_;
  bool v6_ = false;
  unsigned tries_ = 0;
  UniqueFd socket_;  // a new one, and so a new port, for each question
  std::string question_;
  uint64_t deadline_ = 0;
  State state_ = State::kWaiting;
  std::vector<Address> addresses_;
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_LOOKUP_H_
