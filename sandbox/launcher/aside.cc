#include "sandbox/launcher/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace berth::launcher {

bool Aside::Open() {
  if (null_.ok()) return true;
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  reads_.reset(fds[0]);
  writes_.reset(fds[1]);
  fcntl(fds[0], F_SETPIPE_SZ, 1 << 20);  // fails past the user's limit: then less is put aside
  null_.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));
  return null_.ok();
}

size_t Aside::Take(int pipe, size_t most) {
  if (!Open()) return 0;
  const ssize_t n = splice(pipe, nullptr, writes_.get(), nullptr, most, SPLICE_F_NONBLOCK);
  if (n <= 0) return 0;
  size_ += static_cast<size_t>(n);
  return static_cast<size_t>(n);
}

size_t Aside::Drop(size_t most) {
  size_t dropped = 0;
  while (dropped < most && size_ > 0) {
    const ssize_t n =
        splice(reads_.get(), nullptr, null_.get(), nullptr, most - dropped, SPLICE_F_NONBLOCK);
    if (n <= 0) break;
    size_ -= static_cast<size_t>(n);
    dropped += static_cast<size_t>(n);
  }
  return dropped;
}

size_t Aside::Read(char* buffer, size_t most) {
  if (size_ == 0) return 0;
  ssize_t n;
  while ((n = read(reads_.get(), buffer, most)) < 0 && errno == EINTR) {
  }
  if (n <= 0) {
    size_ = 0;
    return 0;
  }
  size_ -= static_cast<size_t>(n);
  return static_cast<size_t>(n);
}

}  // namespace berth::launcher
