// Both readers, fed any bytes in two kinds of pieces: the same comes out, within bounds.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <string>
#include <string_view>

#include "runtime/docker/relay/frames.h"

namespace {

template <typename Reader, typename Kind>
std::string Read(std::string_view bytes, size_t step) {
  Reader reader;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += step) {
    const bool ok = reader.Feed(bytes.substr(at, step), [&](Kind kind, std::string_view body) {
      for (const char c : body) out.push_back(static_cast<char>(kind)), out.push_back(c);
      return true;
    });
    if (!ok) {
      out += "refused";
      break;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::relay::Demux;
  using berth::relay::FrameReader;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t step = size == 0 ? 1 : 1 + data[0] % 7;
  if (Read<Demux, int>(bytes, step) != Read<Demux, int>(bytes, size + 1)) abort();
  if (Read<FrameReader, char>(bytes, step) != Read<FrameReader, char>(bytes, size + 1)) abort();
  return 0;
}
