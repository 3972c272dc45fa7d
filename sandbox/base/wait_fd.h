// Waiting on a descriptor with a deadline: the one way in which berth waits for anything.
#ifndef BERTH_SANDBOX_BASE_WAIT_FD_H_
#define BERTH_SANDBOX_BASE_WAIT_FD_H_

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace berth {

// Returns once `fd` has one of `events` (POLLIN, POLLOUT, …), was hung up or has an error.
// DeadlineExceeded if none came until `deadline` (absl::InfiniteFuture() waits for ever).
// `what` names the wait in the error.
absl::Status WaitFd(int fd, short events, absl::Time deadline, const char* what);

// The same for `fd`, but also returns Cancelled once `cancel_fd` is readable. -1: no cancel.
absl::Status WaitFdOrCancel(int fd, short events, int cancel_fd, absl::Time deadline,
                            const char* what);

}  // namespace berth

#endif  // BERTH_SANDBOX_BASE_WAIT_FD_H_
