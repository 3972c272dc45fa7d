// The test's side of probe.cc.
#ifndef BERTH_TESTS_SESSIONS_PROBE_H_
#define BERTH_TESTS_SESSIONS_PROBE_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace berth {

// Ends the input of `sink` and `late`; no test sends these bytes for anything else.
inline constexpr std::string_view kEnd = "\x1c\x1d<end of input>\x1d\x1c";

// The program, by an absolute path: sessions have a working directory of their own.
inline std::string ProbePath() {
  const char* path = getenv("PROBE");
  char* real = path != nullptr ? realpath(path, nullptr) : nullptr;
  const std::string result = real != nullptr ? real : "PROBE is not set";
  free(real);
  return result;
}

inline std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

// `size` bytes that differ from place to place, all printable.
inline std::string Pattern(size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  uint32_t state = seed * 2654435761u + 1;
  for (char& c : bytes) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>('!' + (state >> 24) % 90);
  }
  return bytes;
}

}  // namespace berth

#endif  // BERTH_TESTS_SESSIONS_PROBE_H_
