// Whatever a client sends first: the same verdict however it is cut, and nothing read past the end.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <string>
#include <string_view>

#include "sandbox/network/client_hello.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::network::ClientHello;
  using berth::network::ReadClientHello;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const ClientHello whole = ReadClientHello(bytes);
  if (whole.state != ClientHello::State::kComplete && !whole.name.empty()) abort();
  // A verdict does not change by what comes after it.
  for (const size_t cut : {size / 4, size / 2, size - size / 4}) {
    const ClientHello part = ReadClientHello(std::string_view(bytes).substr(0, cut));
    if (part.state == ClientHello::State::kComplete &&
        (whole.state != ClientHello::State::kComplete || part.name != whole.name))
      abort();
  }
  return 0;
}
