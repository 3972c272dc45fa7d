#include "runtime/record/session_name.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth {
namespace {

constexpr size_t kMaxName = 64;

absl::Status Refuse(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("session name ", ShowText(name), ": ", why));
}

}  // namespace

std::string ShowText(absl::string_view text, size_t most) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, most)), "'",
                      text.size() > most ? "…" : "");
}

absl::Status CheckSessionName(absl::string_view name) {
  if (name.empty()) return Refuse(name, "it is empty");
  if (!absl::ascii_isalnum(static_cast<unsigned char>(name[0]))) {
    return Refuse(name, "it must begin with a letter or a digit");
  }
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') {
      return Refuse(name, absl::StrCat("it holds '", absl::CHexEscape(absl::string_view(&c, 1)),
                                       "'; letters, digits, '_' and '-' are allowed"));
    }
  }
  if (name.size() > kMaxName) {
    return Refuse(name, absl::StrCat("it has ", name.size(), " characters; at most ", kMaxName,
                                     " are allowed"));
  }
  return absl::OkStatus();
}

}  // namespace berth
