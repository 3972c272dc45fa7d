#include "tools/berth/loop.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"

namespace berth::cli {

void Loop::SetTimer(absl::Time when, Callback callback) {
  when_ = when;
  callback_ = std::move(callback);
}

absl::Status Loop::Run(const std::function<bool()>& done) {
  std::vector<pollfd> fds;
  while (!done()) {
    fds.clear();
    for (const Source* source : sources_) fds.push_back(source->Want());
    timespec left{};
    const bool timed = when_ != absl::InfiniteFuture();
    if (timed) left = absl::ToTimespec(std::max(when_ - absl::Now(), absl::ZeroDuration()));
    const int ready = ppoll(fds.data(), fds.size(), timed ? &left : nullptr, nullptr);
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "wait for input and output");
    if (timed && absl::Now() >= when_) {
      when_ = absl::InfiniteFuture();
      ABSL_RETURN_IF_ERROR(callback_());
    }
    if (ready <= 0) continue;
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd >= 0 && fds[i].revents != 0) {
        ABSL_RETURN_IF_ERROR(sources_[i]->Ready());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::cli
