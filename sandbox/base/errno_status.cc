#include "sandbox/base/errno_status.h"

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace berth {

absl::Status ErrnoStatus(int error, absl::string_view what) {
  return absl::ErrnoToStatus(error, what);
}

}  // namespace berth
