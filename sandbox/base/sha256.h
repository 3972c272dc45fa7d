// SHA-256 (FIPS 180-4), for names that must not be forged: what is cached by content, never for
// passwords.
#ifndef BERTH_SANDBOX_BASE_SHA256_H_
#define BERTH_SANDBOX_BASE_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace berth {

// 64 hexadecimal digits.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_SHA256_H_
