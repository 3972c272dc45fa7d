#include "runtime/tmux/words.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace berth::tmux {

absl::Status CheckVersion(absl::string_view version) {
  absl::string_view digits = version;
  // A build of the development branch says so, or names the release to come; OpenBSD's own is as
  // new as its system.
  if (digits == "master" || absl::StartsWith(digits, "openbsd-")) return absl::OkStatus();
  absl::ConsumePrefix(&digits, "next-");
  const std::vector<absl::string_view> parts = absl::StrSplit(digits, absl::MaxSplits('.', 1));
  int major = 0, minor = 0;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &major) &&
      absl::SimpleAtoi(parts[1].substr(0, parts[1].find_first_not_of("0123456789")), &minor) &&
      (major > 3 || (major == 3 && minor >= 2))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("tmux '", version, "' is too old for berth: ", kInstall));
}

absl::Status CommandError(absl::string_view words) {
  words = absl::StripAsciiWhitespace(words);
  // "can't find session: x" since 1.8, "session not found: x" before it, "no current target" where
  // there is no session at all; newer ones say "no such" of some.
  for (const absl::string_view absent :
       {"can't find ", "no such ", "session not found", "no current ", "no sessions"}) {
    if (absl::StartsWith(words, absent)) return absl::NotFoundError(absl::StrCat("tmux: ", words));
  }
  if (absl::StartsWith(words, "duplicate session"))
    return absl::AlreadyExistsError(absl::StrCat("tmux: ", words));
  return absl::FailedPreconditionError(absl::StrCat("tmux: ", words));
}

}  // namespace berth::tmux
