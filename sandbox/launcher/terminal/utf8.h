// The little of UTF-8 that a terminal needs. No allocation, no failure.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_UTF8_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::launcher {

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// What is at the beginning of non-empty bytes.
struct Utf8Prefix {
  enum Kind { kWhole, kCutShort, kIllFormed } kind;
  size_t size;  // bytes of it; of an ill-formed one, those that one U+FFFD stands for (Unicode 3.9,
                // table 3-8)
  uint32_t code_point;  // of a whole one
};
Utf8Prefix ReadUtf8(const char* bytes, size_t size);

void AppendUtf8(uint32_t code_point, std::string* out);

// `text` with ill-formed parts as U+FFFD and without C0, DEL and C1 controls.
std::string PrintableUtf8(std::string_view text);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_UTF8_H_
