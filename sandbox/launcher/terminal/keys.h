// The bytes that a key sends, by its name as tmux users know it.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_KEYS_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_KEYS_H_

#include <string>
#include <string_view>

namespace berth::launcher {

// Appends to *out what xterm sends for the key. False, and *out as it was, for a name that is not
// known:
//   Enter Tab BTab Escape Space BSpace                     Up Down Left Right Home End
//   PageUp (PgUp, PPage) PageDown (PgDn, NPage)            Insert (IC) Delete (DC)   F1 .. F12
//   one code point, which stands for itself                C- (also ^x), M-, S- before any of them,
//   in any order
// Names are told apart from letters by length, so case does not matter in them; in a single
// character it does. C- with a character is the control character where there is one (C-a, C-Space,
// C-[, C-\, C-], C-^, C-_, C-?), else unknown. S- with a letter is the capital. M- sends ESC first.
// `application_cursor`: the program turned on mode 1 (DECCKM); arrows, Home and End without
// modifiers depend on it.
//
// Pure; any thread.
bool KeyBytes(std::string_view key_name, bool application_cursor, std::string* out);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_KEYS_H_
