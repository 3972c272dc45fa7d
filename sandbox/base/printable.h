// Text that others chose, made safe for a terminal.
#ifndef BERTH_SANDBOX_BASE_PRINTABLE_H_
#define BERTH_SANDBOX_BASE_PRINTABLE_H_

#include <stddef.h>

#include <string>

#include "absl/strings/string_view.h"

namespace berth {

// The length of the UTF-8 sequence that `text`, which is not empty, begins with, or 0 if there is
// none: Unicode's table of well-formed sequences, so no overlong forms, surrogates or what lies
// beyond U+10FFFF.
size_t Utf8Length(absl::string_view text);

// `text` with a space for each control character, and '?' for each byte that is no part of UTF-8
// and for what changes the direction of writing. All else is as it was.
std::string Printable(absl::string_view text);
// The same of text in lines: ends of lines and tabs stay.
std::string PrintableLines(absl::string_view text);

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_PRINTABLE_H_
