// Text as a terminal gives a paste to a program.
#ifndef BERTH_SANDBOX_LAUNCHER_TERMINAL_PASTE_H_
#define BERTH_SANDBOX_LAUNCHER_TERMINAL_PASTE_H_

#include <string>
#include <string_view>

namespace berth::launcher {

// With `bracketed` (the program turned mode 2004 on): ESC[200~ text ESC[201~, one paste to the
// program, in which line breaks are text and submit nothing. A paste-end marker inside of the text
// (ESC[201~, or with CSI as the byte 0x9b or as U+009B) would end the paste early and let the rest
// act as keys. Its introducer (ESC, 0x9b or U+009B) is left out, until there is none, also none
// that arises only by leaving one out; the rest of the marker stays as visible text. Where the byte
// 0x9b is the end of a real character ("\xec\x9b\x9b" "201~"), the '~' is left out instead, so that
// the text stays UTF-8. Nothing else is changed: not line ends, not control characters, not invalid
// UTF-8.
//
// Without: `text` as it is. Each '\n' or '\r' is then a key to the program; text of several lines
// is as many submits to most programs. Callers who want one submit need a program that knows
// bracketed paste.
//
// Pure; any thread.
std::string PastePayload(std::string_view text, bool bracketed);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TERMINAL_PASTE_H_
