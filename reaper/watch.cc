#include "reaper/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reaper/sweep.h"
#include "runtime/record/identity.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

// New leases and new sessions. What a sweep itself does (it opens leases, and moves and removes
// sessions) makes none of these events, but for names that begin with a dot.
absl::StatusOr<UniqueFd> WatchFolders(const StateDir& dir) {
  UniqueFd inotify(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.ok()) return ErrnoStatus(errno, "inotify_init");
  for (const int folder : {dir.owners_fd(), dir.sessions_fd()}) {
    // By descriptor: the path may lead elsewhere by now.
    if (inotify_add_watch(inotify.get(), absl::StrCat("/proc/self/fd/", folder).c_str(),
                          IN_CREATE | IN_MOVED_TO) < 0) {
      return ErrnoStatus(errno, absl::StrCat("watch '", dir.path(), "'"));
    }
  }
  return inotify;
}

// Takes what there is to read. Whether any of it matters.
bool TakeEvents(int inotify) {
  alignas(inotify_event) char buffer[16384];
  bool matters = false;
  ssize_t length;
  while ((length = read(inotify, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      // One without a name tells that events were lost.
      matters = matters || event->len == 0 || event->name[0] != '.';
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  return matters;
}

absl::Status AddTo(int epoll, int fd) {
  epoll_event event = {};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return ErrnoStatus(errno, "epoll_ctl");
  return absl::OkStatus();
}

}  // namespace

absl::Status Watch(const Store& store, const Options& options, const WatchOptions& watch,
                   const Engines& engines, int stop_fd,
                   absl::FunctionRef<void(const absl::StatusOr<Report>&)> tell) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd inotify, WatchFolders(store.dir()));
  while (true) {
    const absl::StatusOr<Report> report = Sweep(store, options, engines);
    tell(report);
    const absl::Time next = absl::Now() + watch.every;

    const UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll.ok()) return ErrnoStatus(errno, "epoll_create");
    ABSL_RETURN_IF_ERROR(AddTo(epoll.get(), inotify.get()));
    std::vector<UniqueFd> owners;
    bool again = false;
    for (const Identity& owner : report.ok() ? report->owners : std::vector<Identity>()) {
      absl::StatusOr<UniqueFd> pidfd = OpenProcess(owner);
      again = again || absl::IsNotFound(pidfd.status());  // ended since
      if (!pidfd.ok()) continue;
      ABSL_RETURN_IF_ERROR(AddTo(epoll.get(), pidfd->get()));
      owners.push_back(*std::move(pidfd));
    }
    while (!again) {
      const absl::Status waited =
          WaitFdOrCancel(epoll.get(), POLLIN, stop_fd, next, "wait for something to happen");
      if (absl::IsCancelled(waited)) return absl::OkStatus();
      if (absl::IsDeadlineExceeded(waited)) break;
      ABSL_RETURN_IF_ERROR(waited);
      again = TakeEvents(inotify.get());
      for (const UniqueFd& owner : owners) {
        again = again || WaitFd(owner.get(), POLLIN, absl::InfinitePast(), "").ok();
      }
    }
    const absl::Status stopped = WaitFd(stop_fd, POLLIN, absl::Now() + watch.settle, "settle");
    if (stopped.ok()) return absl::OkStatus();
    if (!absl::IsDeadlineExceeded(stopped)) return stopped;
    TakeEvents(inotify.get());
  }
}

}  // namespace berth::reaper
