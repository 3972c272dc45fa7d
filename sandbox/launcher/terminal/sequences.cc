// Control sequences on their way to libvterm: most as they are, some rewritten because libvterm
// misreads them.
#include <algorithm>
#include <cstdio>
#include <string>

#include "sandbox/launcher/terminal/screen.h"

namespace berth::launcher {
namespace {

// libvterm looks up to two arguments past the last one in an array of sixteen.
constexpr int kMaxArgsForLibvterm = 13;

// SGR codes, collected into sequences that are short enough.
class GraphicsWriter {
 public:
  explicit GraphicsWriter(std::string* out) : out_(out) {}
  void Add(const char* format, int a = 0, int b = 0, int c = 0, int arguments = 1) {
    if (count_ + arguments > kMaxArgsForLibvterm) End();
    char text[64];
    snprintf(text, sizeof(text), format, a, b, c);
    *out_ += count_ == 0 ? "\x1b[" : ";";
    *out_ += text;
    count_ += arguments;
  }
  void End() {
    if (count_ > 0) *out_ += 'm';
    count_ = 0;
  }

 private:
  std::string* out_;
  int count_ = 0;
};

}  // namespace

void Screen::OnControlSequence(const ControlSequence& s) {
  const bool bare = s.leader == 0 && s.intermediate == 0;
  if (bare && s.final == 'm') return SetGraphics(s);
  // REP: libvterm loops for ever after a combining character and leaves the screen with a wide one.
  if (bare && s.final == 'b') return RepeatLast(std::max(1, s.Arg(0, 1)));
  // To libvterm this is always DECSLRM (left and right margins, which are off here); programs mean
  // save and restore.
  if (bare && s.final == 's') return s.count == 0 ? Write("\x1b\x37") : void();
  if (bare && s.final == 'u') return s.count == 0 ? OnEscape("8") : void();
  if (s.leader == '?' && s.intermediate == 0 && (s.final == 'h' || s.final == 'l'))
    return SetModes(s);
  if (s.leader == '?' && s.intermediate == '$' && s.final == 'p' && s.Arg(0, 0) == 69) {
    if (reply_ != nullptr) reply_(reply_context_, "\x1b[?69;0$y", 9);
    return;
  }
  PassOn(s);
}

void Screen::PassOn(const ControlSequence& s) {
  std::string out = "\x1b[";
  if (s.leader != 0) out += s.leader;
  const int count = std::min(s.count, kMaxArgsForLibvterm);
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += s.colon_after[i - 1] ? ':' : ';';
    if (s.args[i] != ControlSequence::kMissing) out += std::to_string(s.args[i]);
  }
  if (s.intermediate != 0) out += s.intermediate;
  out += s.final;
  Write(out);
}

// One code at a time: libvterm does not know the colour of underlines (58) and takes its arguments
// for codes of their own, reads 38:2 without the colour space field, and has no dim.
void Screen::SetGraphics(const ControlSequence& s) {
  std::string out;
  GraphicsWriter codes(&out);
  if (s.count == 0) codes.Add("0");
  for (int i = 0; i < s.count;) {
    int end = i + 1;  // of this code with its sub-parameters
    while (end < s.count && s.colon_after[end - 1]) ++end;
    const int code = s.Arg(i, 0);
    const bool sub = end > i + 1;
    if (code == 38 || code == 48 || code == 58) {
      const int kind = s.Arg(i + 1, 0);
      if (!sub) end = std::min(s.count, i + (kind == 2 ? 5 : kind == 5 ? 3 : 2));
      const auto value = [&](int at) { return std::clamp(s.Arg(at, 0), 0, 255); };
      if (code != 58 && kind == 5 && end >= i + 3) {
        codes.Add("%d;5;%d", code, value(i + 2), 0, 3);
      } else if (code != 58 && kind == 2 && end >= i + 5) {
        const int red = sub && end >= i + 6 ? i + 3 : i + 2;
        codes.Add(code == 38 ? "38;2;%d;%d;%d" : "48;2;%d;%d;%d", value(red), value(red + 1),
                  value(red + 2), 5);
      }
    } else if (code == 4 && sub) {
      const int kind = s.Arg(i + 1, 1);
      codes.Add("4:%d", kind > 3 ? 1 : kind, 0, 0, 2);
    } else if (code == 2) {
      codes.Add("%d", 10 + kDimFont);
    } else if (code == 22) {
      codes.Add("22;10", 0, 0, 0, 2);
    } else if (code < 10 || code > 19) {
      codes.Add("%d", code);
    }
    i = end;
  }
  codes.End();
  Write(out);
}

void Screen::SetModes(const ControlSequence& s) {
  for (int i = 0; i < s.count; ++i) {
    int mode = s.Arg(i, 0);
    if (mode == 47) mode = 1047;
    if (mode == 69) continue;
    if (s.final == 'h' && (mode == 1047 || mode == 1049)) {
      vterm_screen_enable_altscreen(screen_, 1);  // allocates at the first time
      if (!alternate_) {
        hidden_rows_ = Rows();
        hidden_cursor_ = Cursor();
      }
    }
    char sequence[16];
    const int size = snprintf(sequence, sizeof(sequence), "\x1b[?%d%c", mode, s.final);
    Write({sequence, static_cast<size_t>(size)});
  }
}

void Screen::RepeatLast(int count) {
  const std::string_view last = gate_.last_character();
  std::string text;
  for (count = std::min(count, rows_ * cols_); count > 0 && !last.empty(); --count) text += last;
  OnText(text.data(), text.size(), last.size() == 1);
}

}  // namespace berth::launcher
