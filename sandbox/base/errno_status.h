// Errors of the kernel as absl::Status: message = step + object + errno text, as in
//   "open record '/x/y': Permission denied".
#ifndef BERTH_SANDBOX_BASE_ERRNO_STATUS_H_
#define BERTH_SANDBOX_BASE_ERRNO_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace berth {

// `what` is the step and its object. The code is the canonical one for `error`
// (ENOENT is NotFound, EEXIST AlreadyExists, EACCES and EPERM PermissionDenied, …).
absl::Status ErrnoStatus(int error, absl::string_view what);

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_ERRNO_STATUS_H_
