#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {

Utf8Prefix ReadUtf8(const char* bytes, size_t size) {
  const auto byte = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {Utf8Prefix::kWhole, 1, lead};
  if (lead < 0xc2 || lead > 0xf4) return {Utf8Prefix::kIllFormed, 1, 0};
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code_point = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == size) return {Utf8Prefix::kCutShort, size, 0};
    // The second byte is where overlong forms, surrogates and too large values show.
    unsigned char low = 0x80, high = 0xbf;
    if (i == 1 && lead == 0xe0) low = 0xa0;
    if (i == 1 && lead == 0xed) high = 0x9f;
    if (i == 1 && lead == 0xf0) low = 0x90;
    if (i == 1 && lead == 0xf4) high = 0x8f;
    if (byte(i) < low || byte(i) > high) return {Utf8Prefix::kIllFormed, i, 0};
    code_point = code_point << 6 | (byte(i) & 0x3f);
  }
  return {Utf8Prefix::kWhole, length, code_point};
}

void AppendUtf8(uint32_t code_point, std::string* out) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | code_point >> 6);
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18 & 0x07));
    put(0x80 | (code_point >> 12 & 0x3f));
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

std::string PrintableUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Prefix prefix = ReadUtf8(text.data(), text.size());
    if (prefix.kind != Utf8Prefix::kWhole) {
      out += kReplacementCharacter;
    } else if (prefix.code_point >= 0x20 &&
               (prefix.code_point < 0x7f || prefix.code_point > 0x9f)) {
      out += text.substr(0, prefix.size);
    }
    text.remove_prefix(prefix.size);
  }
  return out;
}

}  // namespace berth::launcher
