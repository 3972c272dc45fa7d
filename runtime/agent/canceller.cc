#include "runtime/agent/canceller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

absl::StatusOr<std::unique_ptr<Canceller>> Canceller::Create() {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.ok()) return ErrnoStatus(errno, "make a descriptor to cancel by");
  return absl::WrapUnique(new Canceller(std::move(event)));
}

void Canceller::Cancel() {
  absl::MutexLock lock(mutex_);
  cancelled_ = true;
  const uint64_t one = 1;
  (void)!write(event_.get(), &one, sizeof(one));
  // Also ends a connect that is under way (inet_shutdown disconnects a socket in SYN_SENT).
  if (socket_.ok()) shutdown(socket_.get(), SHUT_RDWR);
}

bool Canceller::cancelled() const {
  absl::MutexLock lock(mutex_);
  return cancelled_;
}

void Canceller::Watch(int socket) {
  absl::MutexLock lock(mutex_);
  if (cancelled_) {
    // An unconnected socket cannot be shut down; an eventfd cannot be connected.
    dup3(event_.get(), socket, O_CLOEXEC);
    return;
  }
  socket_.reset(fcntl(socket, F_DUPFD_CLOEXEC, 0));
}

void Canceller::Forget() {
  absl::MutexLock lock(mutex_);
  socket_.reset();
}

}  // namespace berth
