#include "reaper/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reaper/sweep.h"
#include "runtime/record/identity.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {

absl::StatusOr<std::unique_ptr<Watcher>> Watcher::Make(const Store& store, const Options& options,
                                                       const WatchOptions& watch,
                                                       const Engines& engines) {
  auto made = absl::WrapUnique(new Watcher(store, options, watch, engines));
  made->ready_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!made->ready_.ok()) return ErrnoStatus(errno, "epoll_create");
  made->timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!made->timer_.ok()) return ErrnoStatus(errno, "timerfd_create");
  made->stop_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->stop_.ok()) return ErrnoStatus(errno, "eventfd");
  ABSL_ASSIGN_OR_RETURN(made->folders_, FolderEvents::Watch(store.dir()));
  for (const UniqueFd* each : {&made->timer_, &made->stop_}) {
    ABSL_RETURN_IF_ERROR(AddToEpoll(made->ready_.get(), each->get(), 0));
  }
  ABSL_RETURN_IF_ERROR(made->SetTimer(absl::ZeroDuration()));
  return made;
}

absl::Status Watcher::SetTimer(absl::Duration delay) {
  itimerspec when = {};
  // All zero would be never, which is what an infinite delay wants.
  if (delay != absl::InfiniteDuration()) {
    when.it_value = absl::ToTimespec(std::max(delay, absl::Nanoseconds(1)));
  }
  if (timerfd_settime(timer_.get(), 0, &when, nullptr) != 0) {
    return ErrnoStatus(errno, "timerfd_settime");
  }
  return absl::OkStatus();
}

void Watcher::Stop() {
  stopped_ = true;
  eventfd_write(stop_.get(), 1);
}

absl::Status Watcher::Next(Tell tell) {
  if (stopped_) return absl::CancelledError("the watch was stopped");
  ABSL_RETURN_IF_ERROR(broken_);
  uint64_t times;
  if (read(timer_.get(), &times, sizeof times) == sizeof times) {
    broken_ = Sweep(tell);
    if (!broken_.ok()) SetTimer(absl::ZeroDuration()).IgnoreError();  // to be noticed
    return broken_;
  }
  if (!sources_.has_value() || !sources_->Happened()) return absl::OkStatus();
  // What has ended stays readable: gone until the sweep, which looks again.
  Forget();
  return SetTimer(watch_.settle);
}

void Watcher::Forget() {
  if (!sources_.has_value()) return;
  // Closing is not enough where the host has forked: its child has the descriptor, too.
  epoll_ctl(ready_.get(), EPOLL_CTL_DEL, sources_->fd(), nullptr);
  sources_.reset();
}

absl::Status Watcher::Sweep(Tell tell) {
  Forget();
  folders_->Take();
  const absl::StatusOr<Report> report = reaper::Sweep(store_, options_, engines_);
  bool missed = false;
  absl::StatusOr<EventSources> sources = EventSources::Make(
      *folders_, report.ok() ? report->living : std::vector<Identity>(), engines_, store_, &missed);
  tell(report);  // now that what happens from here on is seen
  ABSL_RETURN_IF_ERROR(sources.status());
  if (missed) return SetTimer(watch_.settle);
  ABSL_RETURN_IF_ERROR(AddToEpoll(ready_.get(), sources->fd(), 0));
  sources_ = *std::move(sources);
  return SetTimer(watch_.every);
}

absl::Status Watch(const Store& store, const Options& options, const WatchOptions& watch,
                   const Engines& engines, int stop_fd, Watcher::Tell tell) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Watcher> watcher,
                        Watcher::Make(store, options, watch, engines));
  while (true) {
    const absl::Status waited = WaitFdOrCancel(
        watcher->fd(), POLLIN, stop_fd, absl::InfiniteFuture(), "wait for something to happen");
    if (absl::IsCancelled(waited)) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(waited);
    ABSL_RETURN_IF_ERROR(watcher->Next(tell));
  }
}

}  // namespace berth::reaper
