// What tmux says, in words: it has no codes. Its version, and what went wrong with a command.
#ifndef BERTH_RUNTIME_TMUX_WORDS_H_
#define BERTH_RUNTIME_TMUX_WORDS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace berth::tmux {

// For an error message: what to do about a tmux that is missing or too old.
inline constexpr char kInstall[] = "install tmux 3.2 or newer, or use the native backend";

// OkStatus if a version as tmux tells it ("3.5a", "next-3.4", "openbsd-7.4", "master") is 3.2 or
// newer; FailedPrecondition, with kInstall, if not.
absl::Status CheckVersion(absl::string_view version);

// Of a command that failed: NotFound for a target that is not there, AlreadyExists for a session
// that is, FailedPrecondition with tmux's words for anything else.
absl::Status CommandError(absl::string_view words);

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_WORDS_H_
