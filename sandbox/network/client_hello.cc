#include "sandbox/network/client_hello.h"

#include <string>
#include <string_view>

namespace berth::network {
namespace {

constexpr uint8_t kHandshakeRecord = 22;
constexpr uint8_t kClientHello = 1;
constexpr uint16_t kServerName = 0;
constexpr uint8_t kHostName = 0;
constexpr size_t kRecordHeader = 5;

// Takes pieces off the front; after the first that is not there, ok() is false and all are empty.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  std::string_view Bytes(size_t n) {
    if (!ok_ || rest_.size() < n) {
      ok_ = false;
      return {};
    }
    const std::string_view piece = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return piece;
  }
  uint32_t Number(size_t size) {
    uint32_t value = 0;
    for (const char c : Bytes(size)) value = value << 8 | static_cast<uint8_t>(c);
    return value;
  }
  // A length of `size` bytes, and so many bytes.
  std::string_view Vector(size_t size) { return Bytes(Number(size)); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The body of the server_name extension. One name: more were never in use, and a server might take
// another than we do.
bool ReadServerName(std::string_view body, std::string* name) {
  Cursor in(body);
  Cursor list(in.Vector(2));
  if (!in.ok() || !in.empty()) return false;
  const uint32_t type = list.Number(1);
  const std::string_view host = list.Vector(2);
  if (!list.ok() || !list.empty() || type != kHostName || host.empty()) return false;
  *name = std::string(host);
  return true;
}

bool ReadHello(std::string_view hello, std::string* name) {
  Cursor in(hello);
  in.Bytes(2 + 32);  // version, random
  in.Vector(1);      // session id
  in.Vector(2);      // cipher suites
  in.Vector(1);      // compression methods
  if (!in.ok()) return false;
  if (in.empty()) return true;  // no extensions: SSL 3 and such, without a name
  Cursor extensions(in.Vector(2));
  if (!in.ok() || !in.empty()) return false;
  bool seen = false;
  while (!extensions.empty()) {
    const uint32_t type = extensions.Number(2);
    const std::string_view body = extensions.Vector(2);
    if (!extensions.ok()) return false;
    if (type != kServerName) continue;
    if (seen || !ReadServerName(body, name)) return false;
    seen = true;
  }
  return true;
}

}  // namespace

ClientHello ReadClientHello(std::string_view bytes) {
  using State = ClientHello::State;
  ClientHello result;
  std::string handshake;  // what the records carry
  size_t wanted = 4;
  for (std::string_view rest = bytes; handshake.size() < wanted;) {
    const auto at = [&rest](size_t i) { return static_cast<uint8_t>(rest[i]); };
    const bool first = rest.size() == bytes.size();
    const State bad = first ? State::kNotTls : State::kMalformed;
    if (!rest.empty() && at(0) != kHandshakeRecord) return {bad, ""};
    if (rest.size() >= 2 && at(1) != 3) return {bad, ""};
    if (rest.size() < kRecordHeader) break;
    const size_t length = static_cast<size_t>(at(3)) << 8 | at(4);
    if (length == 0 || length > (1 << 14)) return {State::kMalformed, ""};
    handshake += rest.substr(kRecordHeader, length);
    if (!handshake.empty() && static_cast<uint8_t>(handshake[0]) != kClientHello) {
      return {State::kMalformed, ""};
    }
    if (handshake.size() >= 4) {
      Cursor size(std::string_view(handshake).substr(1, 3));
      wanted = 4 + size.Number(3);
      if (wanted > kMaxClientHello) return {State::kMalformed, ""};
    }
    if (rest.size() < kRecordHeader + length) break;
    rest.remove_prefix(kRecordHeader + length);
  }
  if (handshake.size() < wanted || handshake.size() < 4) {
    if (bytes.size() >= kMaxClientHello) result.state = State::kMalformed;
    return result;
  }
  const bool good = ReadHello(std::string_view(handshake).substr(4, wanted - 4), &result.name);
  result.state = good ? State::kComplete : State::kMalformed;
  if (!good) result.name.clear();
  return result;
}

}  // namespace berth::network
