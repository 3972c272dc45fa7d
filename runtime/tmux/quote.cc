#include "runtime/tmux/quote.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace berth::tmux {
namespace {

// Those that tmux takes as themselves inside of double quotes, in any place.
bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view("-_./=:,+@%#!()*&<>?[]|^' ").find(c) != absl::string_view::npos;
}

}  // namespace

std::string Quote(absl::string_view word) {
  std::string out = "\"";
  for (const char c : word) {
    if (IsPlain(c)) {
      out.push_back(c);
    } else if (c != '\0') {
      // \ooo, as in C: of three digits, so that one that follows is not taken for a part of it.
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('\\');
      for (const int shift : {6, 3, 0}) out.push_back(static_cast<char>('0' + (byte >> shift & 7)));
    }
  }
  out.push_back('"');
  return out;
}

std::string QuoteFormat(absl::string_view word) {
  return Quote(absl::StrReplaceAll(word, {{"#", "##"}}));
}

}  // namespace berth::tmux
