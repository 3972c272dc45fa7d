// The one rule for names: of sessions, and of leases.
#ifndef BERTH_RUNTIME_RECORD_SESSION_NAME_H_
#define BERTH_RUNTIME_RECORD_SESSION_NAME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace berth {

// [A-Za-z0-9][A-Za-z0-9_-]{0,63}, or InvalidArgument that shows the name (escaped, shortened) and
// says why.
absl::Status CheckSessionName(absl::string_view name);

// `text` as a message may show it: escaped, in quotes, and cut after `most` characters.
std::string ShowText(absl::string_view text, size_t most = 60);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_SESSION_NAME_H_
