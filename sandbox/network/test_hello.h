// The first message of a TLS client, for tests.
#ifndef BERTH_SANDBOX_NETWORK_TEST_HELLO_H_
#define BERTH_SANDBOX_NETWORK_TEST_HELLO_H_

#include <stddef.h>

#include <string>

namespace berth::network {

// With `name` in its server_name extension, `times` times over; without one if it is "".
inline std::string MakeClientHello(const std::string& name, int times = 1) {
  const auto with_length = [](const std::string& body, size_t bytes) {
    std::string out;
    for (size_t i = bytes; i-- > 0;) out.push_back(static_cast<char>(body.size() >> (8 * i)));
    return out + body;
  };
  std::string extensions = std::string("\x00\x2b\x00\x03\x02\x03\x04", 7);  // supported_versions
  for (int i = 0; !name.empty() && i < times; ++i) {
    const std::string entry = std::string(1, '\0') + with_length(name, 2);
    extensions += std::string(2, '\0') + with_length(with_length(entry, 2), 2);
  }
  const std::string hello = "\x03\x03" + std::string(32, 'r') + with_length("", 1) +
                            with_length("\x13\x01", 2) + with_length(std::string(1, '\0'), 1) +
                            with_length(extensions, 2);
  return "\x16\x03\x01" + with_length("\x01" + with_length(hello, 3), 2);
}

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_TEST_HELLO_H_
