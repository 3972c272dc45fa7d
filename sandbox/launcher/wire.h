// Messages between the library and its helper: how they are laid out, and how they cross a socket.
//
// One message is one SEQPACKET datagram: a Header, then fields one after another. Integers are of
// the machine's own byte order (both ends are one build of one program on one machine; the version
// is checked all the same). A string is its length, its bytes and a NUL, so that the receiver can
// use it in place as an argument of execve. A body that would not fit a datagram travels in a
// sealed memfd, as the first descriptor.
//
// Used by the helper: no Abseil, no exceptions. A Reader never reads past its bytes, whatever they
// are.
#ifndef BERTH_SANDBOX_LAUNCHER_WIRE_H_
#define BERTH_SANDBOX_LAUNCHER_WIRE_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

inline constexpr uint32_t kMagic = 0x68747262;  // "brth"
inline constexpr uint16_t kVersion = 1;
inline constexpr size_t kInlineBody = 48 << 10;
inline constexpr size_t kMaxBody = size_t{72} << 20;  // a message of 64 MiB and its options
inline constexpr int kMaxFds = 16;
inline constexpr uint16_t kBodyInMemfd = 1;

struct Header {
  uint32_t magic = kMagic;
  uint16_t version = kVersion;
  uint16_t type = 0;
  uint16_t flags = 0;
  uint16_t reserved = 0;
};

class Writer {
 public:
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  Writer& Put(T value) {
    body_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Writer& Put(std::string_view bytes) {
    Put(static_cast<uint32_t>(bytes.size()));
    body_.append(bytes);
    body_.push_back('\0');
    return *this;
  }
  template <typename Strings>
  Writer& PutList(const Strings& strings) {
    Put(static_cast<uint32_t>(strings.size()));
    for (const auto& s : strings) Put(std::string_view(s));
    return *this;
  }
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

// Reads what Writer wrote. After the first thing that does not fit, ok() is false and everything is
// zero or empty.
class Reader {
 public:
  Reader(const char* data, size_t size) : at_(data), end_(data + size) {}

  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  T Get() {
    T value{};
    if (!Take(sizeof(T))) return value;
    __builtin_memcpy(&value, at_ - sizeof(T), sizeof(T));
    return value;
  }
  // Valid as long as the message; data()[size()] is NUL, but a NUL may also be inside.
  std::string_view GetBytes();
  // The same, and not ok if a NUL is inside.
  const char* GetString();
  // Pointers into the message with a null pointer behind them, as execve wants them. At most `max`.
  std::vector<const char*> GetStrings(size_t max);

  bool ok() const { return ok_; }
  bool done() const { return ok_ && at_ == end_; }

 private:
  bool Take(size_t n) {
    if (!ok_ || static_cast<size_t>(end_ - at_) < n) return ok_ = false;
    at_ += n;
    return true;
  }
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

// A received message.
struct Message {
  uint16_t type = 0;
  std::string body;
  std::vector<UniqueFd> fds;

  Reader reader() const { return Reader(body.data(), body.size()); }
  // Descriptor `i`, moved out; not ok() if it did not come.
  UniqueFd TakeFd(size_t i) { return i < fds.size() ? std::move(fds[i]) : UniqueFd(); }
};

// Sends one message; 0 or an errno. EAGAIN if the socket is non-blocking and full. Never raises
// SIGPIPE.
int SendMessage(int socket, uint16_t type, std::string_view body, const int* fds, int fd_count);

// Receives one message; 0 or an errno. EPIPE: the other side closed. EPROTO: not a message of this
// version.
int ReceiveMessage(int socket, Message* message);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_WIRE_H_
