#include "sandbox/base/wait_fd.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"

namespace berth {

absl::Status WaitFd(int fd, short events, absl::Time deadline, const char* what) {
  return WaitFdOrCancel(fd, events, -1, deadline, what);
}

absl::Status WaitFdOrCancel(int fd, short events, int cancel_fd, absl::Time deadline,
                            const char* what) {
  while (true) {
    pollfd fds[2] = {{fd, events, 0}, {cancel_fd, POLLIN, 0}};
    timespec left;
    if (deadline != absl::InfiniteFuture()) {
      absl::Duration remaining = deadline - absl::Now();
      if (remaining < absl::ZeroDuration()) remaining = absl::ZeroDuration();
      left = absl::ToTimespec(remaining);
    }
    const int n = ppoll(fds, 2, deadline == absl::InfiniteFuture() ? nullptr : &left, nullptr);
    if (n < 0 && errno != EINTR) return ErrnoStatus(errno, what);
    if (n > 0 && fds[0].revents != 0) return absl::OkStatus();
    if (n > 0 && fds[1].revents != 0) return absl::CancelledError(what);
    if (n == 0 && absl::Now() >= deadline) {
      return absl::DeadlineExceededError(std::string(what) + ": no answer in time");
    }
  }
}

}  // namespace berth
