// Questions to a DNS server and its answers, as bytes (RFC 1035).
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_DNS_H_
#define BERTH_SANDBOX_NETWORK_DNS_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/network/address.h"

namespace berth::network {

inline constexpr size_t kMaxDnsAnswer = 4096;

// `name` as Host has it.
std::string DnsQuestion(uint16_t id, std::string_view name, bool v6);

struct DnsAnswer {
  enum class State : uint8_t {
    kIgnore,  // not the answer to that question: wait on
    kNone,    // there is no such name, or it has no such address
    kFailed,  // the server could not tell
    kFound,
  };
  State state = State::kIgnore;
  std::vector<Address> addresses;
};
// `question` is what DnsQuestion made: the answer must repeat it.
DnsAnswer ReadDnsAnswer(std::string_view bytes, std::string_view question);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_DNS_H_
