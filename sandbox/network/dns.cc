#include "sandbox/network/dns.h"

#include <string.h>

#include <string>
#include <string_view>

namespace berth::network {
namespace {

constexpr uint16_t kA = 1, kAaaa = 28, kIn = 1, kOpt = 41;
constexpr size_t kHeader = 12;
constexpr size_t kEdns = 11;
constexpr size_t kMostAddresses = 16;

void Put16(std::string* out, unsigned value) {
  out->push_back(static_cast<char>(value >> 8));
  out->push_back(static_cast<char>(value));
}

uint16_t Get16(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 |
                               static_cast<uint8_t>(bytes[at + 1]));
}

// Past a name, without following where it points to; 0 if it runs out of the message.
size_t SkipName(std::string_view bytes, size_t at) {
  while (at < bytes.size()) {
    const uint8_t size = static_cast<uint8_t>(bytes[at]);
    if (size == 0) return at + 1;
    if (size >= 0xc0) return at + 2;
    if (size > 63) return 0;
    at += size + 1u;
  }
  return 0;
}

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

std::string DnsQuestion(uint16_t id, std::string_view name, bool v6) {
  std::string out;
  Put16(&out, id);
  Put16(&out, 0x0100);  // recursion desired
  for (const unsigned count : {1u, 0u, 0u, 1u}) Put16(&out, count);
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    out.push_back(static_cast<char>(label.size()));
    out += label;
    name.remove_prefix(label.size() < name.size() ? label.size() + 1 : name.size());
  }
  out.push_back('\0');
  Put16(&out, v6 ? kAaaa : kA);
  Put16(&out, kIn);
  // EDNS: answers of up to kMaxDnsAnswer in one datagram.
  out.push_back('\0');
  Put16(&out, kOpt);
  Put16(&out, kMaxDnsAnswer);
  out.append(6, '\0');
  return out;
}

DnsAnswer ReadDnsAnswer(std::string_view bytes, std::string_view question) {
  using State = DnsAnswer::State;
  DnsAnswer answer;
  if (question.size() < kHeader + kEdns || bytes.size() < kHeader) return answer;
  const std::string_view asked = question.substr(kHeader, question.size() - kHeader - kEdns);
  if (Get16(bytes, 0) != Get16(question, 0)) return answer;
  const uint16_t flags = Get16(bytes, 2);
  const bool response = (flags & 0x8000) != 0;
  if (!response || Get16(bytes, 4) != 1 || bytes.size() < kHeader + asked.size()) return answer;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (LowerCase(bytes[kHeader + i]) != LowerCase(asked[i])) return answer;
  }
  const unsigned code = flags & 15;
  answer.state = code == 0 || code == 3 ? State::kNone : State::kFailed;
  if (code != 0) return answer;
  const uint16_t wanted = Get16(asked, asked.size() - 4);
  const size_t size = wanted == kAaaa ? 16 : 4;
  size_t at = kHeader + asked.size();
  // The server followed the aliases; whatever addresses it gives are the name's.
  for (unsigned left = Get16(bytes, 6); left > 0; --left) {
    at = SkipName(bytes, at);
    if (at == 0 || at + 10 > bytes.size()) break;
    const uint16_t type = Get16(bytes, at), kind = Get16(bytes, at + 2);
    const size_t length = Get16(bytes, at + 8);
    at += 10;
    if (at + length > bytes.size()) break;
    if (type == wanted && kind == kIn && length == size &&
        answer.addresses.size() < kMostAddresses) {
      Address address;
      address.v6 = wanted == kAaaa;
      memcpy(address.bytes.data(), bytes.data() + at, size);
      answer.addresses.push_back(address);
    }
    at += length;
  }
  if (!answer.addresses.empty()) answer.state = State::kFound;
  return answer;
}

}  // namespace berth::network
