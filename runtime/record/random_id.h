// Random ids from the kernel's generator: session ids, tokens, install ids, lease names.
// Thread-safe. Fails only where getrandom(2) does.
#ifndef BERTH_RUNTIME_RECORD_RANDOM_ID_H_
#define BERTH_RUNTIME_RECORD_RANDOM_ID_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace berth {

inline constexpr size_t kHexIdLength = 32;  // 128 bits: install ids, tokens
inline constexpr size_t kUidLength = 26;    // 130 bits: session ids

absl::StatusOr<std::string> RandomHexId();  // 32 of [0-9a-f]
absl::StatusOr<std::string> RandomUid();    // 26 of [a-z2-7]

bool IsHexId(absl::string_view text);
bool IsUid(absl::string_view text);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_RANDOM_ID_H_
