#include "tools/berth/streams.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

constexpr size_t kReadSize = 64 << 10;

absl::StatusOr<size_t> ReadSome(int fd, char* buffer, size_t size) {
  ssize_t n;
  while ((n = read(fd, buffer, size)) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "read the input");
  }
  return static_cast<size_t>(n);
}

// Waits until `fd` can be read. Aborted once nobody reads standard output: a session may be silent
// for days, and `berth logs -f x | head -1` must not stay that long.
absl::Status AwaitInput(int fd) {
  pollfd fds[2] = {{fd, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
  while (poll(fds, 2, -1) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "wait for output");
  }
  if (fds[0].revents == 0) return absl::AbortedError("the reader of the output went away");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadAll(int fd) {
  std::string all;
  char buffer[kReadSize];
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const size_t n, ReadSome(fd, buffer, sizeof(buffer)));
    if (n == 0) return all;
    all.append(buffer, n);
  }
}

absl::Status CopyOut(int fd, int64_t limit) {
  char buffer[kReadSize];
  while (limit > 0) {
    ABSL_RETURN_IF_ERROR(AwaitInput(fd));
    ABSL_ASSIGN_OR_RETURN(
        const size_t n,
        ReadSome(fd, buffer, static_cast<size_t>(std::min<int64_t>(limit, sizeof(buffer)))));
    if (n == 0) break;
    ABSL_RETURN_IF_ERROR(Print(absl::string_view(buffer, n)));
    limit -= static_cast<int64_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace berth::cli
