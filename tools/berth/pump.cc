#include "tools/berth/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "sandbox/base/errno_status.h"

namespace berth::cli {
namespace {

constexpr size_t kReadSize = 64 << 10;
// A pipe that polls as writable takes this much without blocking (pipe(7)), and a terminal is as
// quick with it.
constexpr size_t kWriteSize = 4096;

}  // namespace

void Pump::SetNonBlocking() {
  const int flags = fcntl(to_, F_GETFL);
  if (flags >= 0) fcntl(to_, F_SETFL, flags | O_NONBLOCK);
}

pollfd Pump::Want() const {
  if (done()) return {-1, 0, 0};
  if (pending_.empty()) return {from_, POLLIN, 0};
  return {to_, POLLOUT, 0};
}

absl::Status Pump::Ready() { return pending_.empty() ? Read() : Write(); }

void Pump::Finish(End end) {
  end_ = end;
  pending_.clear();
  own_.reset();
}

absl::Status Pump::Read() {
  char buffer[kReadSize];
  const ssize_t n = read(from_, buffer, sizeof(buffer));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return absl::OkStatus();
  // EIO is the end of a terminal; a descriptor that the caller closed (EBADF) has nothing either.
  if (n < 0 && errno != EIO && errno != EBADF && errno != ECONNRESET) {
    return ErrnoStatus(errno, "read");
  }
  if (n <= 0) {
    if (farewell_) pending_ = farewell_(last_);
    last_end_ = End::kEndOfFile;
  } else {
    pending_.assign(buffer, static_cast<size_t>(n));
    if (filter_ && !filter_(&pending_)) last_end_ = End::kStopped;
  }
  if (!pending_.empty()) last_ = pending_.back();
  if (pending_.empty() && last_end_ != End::kRunning) Finish(last_end_);
  return absl::OkStatus();
}

absl::Status Pump::Write() {
  const ssize_t n = write(to_, pending_.data(), std::min(pending_.size(), kWriteSize));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return absl::OkStatus();
  if (n < 0 && (errno == EPIPE || errno == EIO || errno == ECONNRESET || errno == EBADF)) {
    Finish(End::kReaderGone);
    return absl::OkStatus();
  }
  if (n < 0) return ErrnoStatus(errno, "write");
  pending_.erase(0, static_cast<size_t>(n));
  if (pending_.empty() && last_end_ != End::kRunning) Finish(last_end_);
  return absl::OkStatus();
}

}  // namespace berth::cli
