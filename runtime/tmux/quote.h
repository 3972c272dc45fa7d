// Words for tmux's command parser: any bytes, exactly as they are.
#ifndef BERTH_RUNTIME_TMUX_QUOTE_H_
#define BERTH_RUNTIME_TMUX_QUOTE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace berth::tmux {

// One word of a command line, whatever is in it: no variable, `~`, `;`, `{`, comment or line end is
// taken for anything else. NUL cannot be said to tmux; it is left out.
std::string Quote(absl::string_view word);

// The same for a word that the command expands as a format, as names and folders are: each `#` is
// one.
std::string QuoteFormat(absl::string_view word);

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_QUOTE_H_
