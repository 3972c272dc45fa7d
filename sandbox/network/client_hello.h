// ClientHello: the name in the first message of a TLS connection (SNI), read without any of TLS.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_NETWORK_CLIENT_HELLO_H_
#define BERTH_SANDBOX_NETWORK_CLIENT_HELLO_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>

namespace berth::network {

struct ClientHello {
  enum class State : uint8_t {
    kPartial,    // more bytes are needed
    kNotTls,     // these are not the first bytes of a TLS connection
    kMalformed,  // they begin as TLS, and then are none, or are longer than kMaxClientHello
    kComplete,
  };
  State state = State::kPartial;
  std::string name;  // kComplete: as it was sent; "" if none was
};

// More than any client sends: records of a hello with post-quantum key shares have 2 KB.
inline constexpr size_t kMaxClientHello = 16000;

// `bytes`: all that came so far. Nothing past them is read, whatever lengths they claim. A hello
// may be cut into several records.
ClientHello ReadClientHello(std::string_view bytes);

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_CLIENT_HELLO_H_
