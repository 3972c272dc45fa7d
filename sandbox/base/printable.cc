#include "sandbox/base/printable.h"

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"

namespace berth {
namespace {

uint32_t CodePoint(absl::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  uint32_t code = first & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

// C0, DEL and C1.
bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// With these a line can be read as another one than it is.
bool IsBidiControl(uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xF0 && first <= 0xF4 ? 4
                                                         : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

namespace {

std::string Clean(absl::string_view text, absl::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      // A lone 0x80 to 0x9F is a C1 control to a terminal of 8 bits: 0x9B begins a sequence.
      out.push_back('?');
      text.remove_prefix(1);
      continue;
    }
    const absl::string_view sequence = text.substr(0, length);
    const uint32_t code = CodePoint(sequence);
    if (IsControl(code) && kept.find(sequence) == kept.npos) {
      out.push_back(' ');
    } else if (IsBidiControl(code)) {
      out.push_back('?');
    } else {
      out.append(sequence.data(), sequence.size());
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string Printable(absl::string_view text) { return Clean(text, ""); }
std::string PrintableLines(absl::string_view text) { return Clean(text, "\n\t"); }

}  // namespace berth
