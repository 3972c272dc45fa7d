// MountWatch: tells that the mounts which this process sees have changed.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_WATCH_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_WATCH_H_

#include <fcntl.h>
#include <poll.h>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

class MountWatch {
 public:
  // False without /proc.
  bool Open() {
    if (!fd_.ok()) fd_ = UniqueFd(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
    return fd_.ok();
  }
  // Poll for POLLPRI, by poll itself and not through epoll: whoever asks is told once, and epoll
  // asks twice.
  int fd() const { return fd_.get(); }
  // Since the last that was told, or Open.
  bool Changed() const {
    pollfd wait{fd_.get(), POLLPRI, 0};
    return poll(&wait, 1, 0) < 0 || Told(wait);
  }
  static bool Told(const pollfd& polled) { return (polled.revents & (POLLPRI | POLLERR)) != 0; }

 private:
  UniqueFd fd_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_WATCH_H_
