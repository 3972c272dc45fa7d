#include "sandbox/launcher/terminal/paste.h"

#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {
namespace {

constexpr std::string_view kBegin = "\x1b[200~", kEnd = "\x1b[201~";
constexpr std::string_view kByteEnd =
    "\x9b"
    "201~";

// Takes one marker that `out` ends with apart. False if it ends with none.
bool BreakMarker(std::string* out) {
  if (out->ends_with(kEnd)) {
    out->erase(out->size() - kEnd.size(), 1);
    return true;
  }
  if (!out->ends_with(kByteEnd)) return false;
  const size_t at = out->size() - kByteEnd.size();  // of the byte 0x9b
  for (size_t back = 1; back <= 3 && back <= at; ++back) {
    const Utf8Prefix prefix = ReadUtf8(out->data() + at - back, back + 1);
    if (prefix.kind != Utf8Prefix::kWhole || prefix.size != back + 1) continue;
    if (prefix.code_point == 0x9b) {
      out->erase(at - back, back + 1);
    } else {
      out->pop_back();
    }
    return true;
  }
  out->erase(at, 1);
  return true;
}

}  // namespace

std::string PastePayload(std::string_view text, bool bracketed) {
  if (!bracketed) return std::string(text);
  std::string out(kBegin);
  out.reserve(kBegin.size() + text.size() + kEnd.size());
  for (const char c : text) {
    out.push_back(c);
    // What stands before is free of markers, so that one can only end here. What is left of it
    // ("[201~" or "201~") may belong to another introducer before it (ESC ESC[201~, say): hence the
    // loop.
    while (out.back() == '~' && BreakMarker(&out)) {
    }
  }
  out += kEnd;
  return out;
}

}  // namespace berth::launcher
