#include "runtime/record/random_id.h"

#include <errno.h>
#include <sys/random.h>

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"

namespace berth {
namespace {

constexpr absl::string_view kHex = "0123456789abcdef";
constexpr absl::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";

// The size of `alphabet` divides 256, so every character is equally likely.
absl::StatusOr<std::string> RandomText(absl::string_view alphabet, size_t length) {
  std::string text(length, '\0');
  size_t have = 0;
  while (have < length) {
    const ssize_t got = getrandom(text.data() + have, length - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "make a random id");
    have += static_cast<size_t>(got);
  }
  for (char& c : text) c = alphabet[static_cast<unsigned char>(c) % alphabet.size()];
  return text;
}

bool IsText(absl::string_view text, absl::string_view alphabet, size_t length) {
  return text.size() == length && text.find_first_not_of(alphabet) == absl::string_view::npos;
}

}  // namespace

absl::StatusOr<std::string> RandomHexId() { return RandomText(kHex, kHexIdLength); }
absl::StatusOr<std::string> RandomUid() { return RandomText(kBase32, kUidLength); }
bool IsHexId(absl::string_view text) { return IsText(text, kHex, kHexIdLength); }
bool IsUid(absl::string_view text) { return IsText(text, kBase32, kUidLength); }

}  // namespace berth
