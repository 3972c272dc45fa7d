#include "sandbox/launcher/terminal/keys.h"

#include "sandbox/launcher/terminal/utf8.h"

namespace berth::launcher {
namespace {

constexpr int kShift = 1, kMeta = 2, kControl = 4;  // as xterm counts them: parameter = 1 + sum

enum Kind {
  kCursor,  // CSI final, SS3 final in application mode, CSI 1;m final
  kSs3,     // SS3 final, CSI 1;m final
  kTilde,   // CSI number ~, CSI number;m ~
  kPlain,   // a character
};

struct Key {
  std::string_view name;
  Kind kind;
  int value;  // final byte, number or character
};

constexpr Key kKeys[] = {
    {"up", kCursor, 'A'},     {"down", kCursor, 'B'},  {"right", kCursor, 'C'},
    {"left", kCursor, 'D'},   {"home", kCursor, 'H'},  {"end", kCursor, 'F'},
    {"pageup", kTilde, 5},    {"pgup", kTilde, 5},     {"ppage", kTilde, 5},
    {"pagedown", kTilde, 6},  {"pgdn", kTilde, 6},     {"npage", kTilde, 6},
    {"insert", kTilde, 2},    {"ic", kTilde, 2},       {"delete", kTilde, 3},
    {"dc", kTilde, 3},        {"f1", kSs3, 'P'},       {"f2", kSs3, 'Q'},
    {"f3", kSs3, 'R'},        {"f4", kSs3, 'S'},       {"f5", kTilde, 15},
    {"f6", kTilde, 17},       {"f7", kTilde, 18},      {"f8", kTilde, 19},
    {"f9", kTilde, 20},       {"f10", kTilde, 21},     {"f11", kTilde, 23},
    {"f12", kTilde, 24},      {"enter", kPlain, '\r'}, {"tab", kPlain, '\t'},
    {"escape", kPlain, 0x1b}, {"space", kPlain, ' '},  {"bspace", kPlain, 0x7f},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameName(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != b[i]) return false;
  }
  return true;
}

bool TakeModifiers(std::string_view* name, int* modifiers) {
  for (*modifiers = 0;;) {
    int modifier = 0;
    if (name->size() > 2 && (*name)[1] == '-') {
      const char c = Lower((*name)[0]);
      modifier = c == 'c' ? kControl : c == 'm' ? kMeta : c == 's' ? kShift : 0;
      if (modifier == 0) return false;
      name->remove_prefix(2);
    } else if (name->size() == 2 && (*name)[0] == '^') {
      modifier = kControl;
      name->remove_prefix(1);
    } else {
      return true;
    }
    if (*modifiers & modifier) return false;  // twice
    *modifiers |= modifier;
  }
}

// The control character of C-`c`, or -1.
int ControlCharacter(int c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 1;
  if (c >= '@' && c <= '_') return c & 0x1f;
  if (c == ' ') return 0;
  if (c == '?') return 0x7f;
  if (c == '/') return 0x1f;   // as terminals have it: C-/ is C-_
  if (c == 0x7f) return 0x08;  // C-BSpace
  return -1;
}

bool CharacterBytes(std::string_view character, int modifiers, std::string* out) {
  std::string bytes(character);
  if (modifiers & (kShift | kControl)) {
    if (character.size() != 1) return false;
    char& c = bytes[0];
    if (modifiers & kShift) {
      if (c >= 'a' && c <= 'z') {
        c = static_cast<char>(c - 32);
      } else if (c != ' ' && c != '\r' && c != 0x7f && !(c >= 'A' && c <= 'Z')) {
        return false;
      }
    }
    if (modifiers & kControl) {
      // Enter, Tab and Escape are control characters already.
      const int control = c == '\r' || c == '\t' || c == 0x1b ? c : ControlCharacter(c);
      if (control < 0) return false;
      c = static_cast<char>(control);
    }
  }
  if (modifiers & kMeta) *out += '\x1b';
  *out += bytes;
  return true;
}

}  // namespace

bool KeyBytes(std::string_view name, bool application_cursor, std::string* out) {
  int modifiers;
  if (name.empty() || !TakeModifiers(&name, &modifiers)) return false;
  const Utf8Prefix prefix = ReadUtf8(name.data(), name.size());
  if (prefix.kind == Utf8Prefix::kWhole && prefix.size == name.size())
    return CharacterBytes(name, modifiers, out);

  if (SameName(name, "btab")) {
    name = "Tab";
    modifiers |= kShift;
  }
  const std::string parameter = std::to_string(1 + modifiers);
  for (const Key& key : kKeys) {
    if (!SameName(name, key.name)) continue;
    const char final = static_cast<char>(key.value);
    switch (key.kind) {
      case kCursor:
      case kSs3:
        if (modifiers != 0) {
          *out += "\x1b[1;" + parameter + final;
        } else {
          *out += key.kind == kSs3 || application_cursor ? "\x1bO" : "\x1b[";
          *out += final;
        }
        return true;
      case kTilde:
        *out += "\x1b[" + std::to_string(key.value) + (modifiers != 0 ? ';' + parameter : "") + '~';
        return true;
      case kPlain:
        if (final == '\t' && (modifiers & kShift)) {
          *out += modifiers == kShift ? "\x1b[Z" : "\x1b[1;" + parameter + 'Z';
          return true;
        }
        return CharacterBytes({&final, 1}, modifiers, out);
    }
  }
  return false;
}

}  // namespace berth::launcher
