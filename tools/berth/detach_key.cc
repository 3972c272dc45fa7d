#include "tools/berth/detach_key.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace berth::cli {

absl::StatusOr<DetachKey> DetachKey::Parse(absl::string_view name) {
  DetachKey key;
  if (name == "none") return key;
  absl::string_view rest = name;
  const bool control = absl::ConsumePrefix(&rest, "C-") || absl::ConsumePrefix(&rest, "^");
  const char base =
      rest.size() == 1 ? absl::ascii_toupper(static_cast<unsigned char>(rest[0])) : '\0';
  if (!control || base < '@' || base > '_') {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name,
        "' is no detach key; write C-] or another C- key (C-a to C-z, C-\\, C-^, C-_), or none"));
  }
  // The key's own code is that of the unshifted character.
  const int code = absl::ascii_tolower(static_cast<unsigned char>(base));
  key.forms_ = {std::string(1, static_cast<char>(base & 0x1F)), absl::StrCat("\x1b[", code, ";5u"),
                absl::StrCat("\x1b[27;5;", code, "~")};
  return key;
}

bool DetachKey::CutAt(std::string* input) const {
  size_t at = std::string::npos;
  for (const std::string& form : forms_) at = std::min(at, input->find(form));
  if (at == std::string::npos) return false;
  input->resize(at);
  return true;
}

}  // namespace berth::cli
