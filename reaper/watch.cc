#include "reaper/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
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

// Everything that a sweep may have to follow on.
class Sources {
 public:
  // Of the folders, which stay; then what the last sweep found.
  static absl::StatusOr<Sources> Make(int inotify) {
    Sources sources;
    sources.epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!sources.epoll_.ok()) return ErrnoStatus(errno, "epoll_create");
    ABSL_RETURN_IF_ERROR(sources.Add(inotify));
    sources.sources_.push_back({UniqueFd(), [inotify](int) { return TakeEvents(inotify); }});
    return sources;
  }
  absl::Status AddSource(EventSource source) {
    ABSL_RETURN_IF_ERROR(Add(source.fd.get()));
    sources_.push_back(std::move(source));
    return absl::OkStatus();
  }
  int fd() const { return epoll_.get(); }
  // Whether something happened that matters.
  bool Happened() const {
    bool matters = false;
    epoll_event ready[64];
    const int count = epoll_wait(epoll_.get(), ready, std::size(ready), 0);
    for (int i = 0; i < count; ++i) {
      const EventSource& source = sources_[ready[i].data.u64];
      matters = source.happened(source.fd.get()) || matters;
    }
    return matters;
  }

 private:
  absl::Status Add(int fd) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = sources_.size();
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      return ErrnoStatus(errno, "epoll_ctl");
    }
    return absl::OkStatus();
  }

  UniqueFd epoll_;
  std::vector<EventSource> sources_;
};

// `again`: something has ended already that the sweep saw alive.
absl::StatusOr<Sources> SourcesAfter(const absl::StatusOr<Report>& report, const Store& store,
                                     const Engines& engines, int inotify, bool* again) {
  ABSL_ASSIGN_OR_RETURN(Sources sources, Sources::Make(inotify));
  for (const Identity& each : report.ok() ? report->living : std::vector<Identity>()) {
    absl::StatusOr<UniqueFd> pidfd = OpenProcess(each);
    *again = *again || absl::IsNotFound(pidfd.status());
    if (!pidfd.ok()) continue;
    ABSL_RETURN_IF_ERROR(sources.AddSource({*std::move(pidfd), [](int) { return true; }}));
  }
  for (const auto& engine : engines) {
    for (EventSource& source : engine->Events(store)) {
      ABSL_RETURN_IF_ERROR(sources.AddSource(std::move(source)));
    }
  }
  return sources;
}

}  // namespace

absl::Status Watch(const Store& store, const Options& options, const WatchOptions& watch,
                   const Engines& engines, int stop_fd,
                   absl::FunctionRef<void(const absl::StatusOr<Report>&)> tell) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd inotify, WatchFolders(store.dir()));
  while (true) {
    const absl::StatusOr<Report> report = Sweep(store, options, engines);
    const absl::Time next = absl::Now() + watch.every;
    bool again = false;
    const absl::StatusOr<Sources> sources =
        SourcesAfter(report, store, engines, inotify.get(), &again);
    tell(report);  // now that what happens from here on is seen
    ABSL_RETURN_IF_ERROR(sources.status());
    while (!again) {
      const absl::Status waited =
          WaitFdOrCancel(sources->fd(), POLLIN, stop_fd, next, "wait for something to happen");
      if (absl::IsCancelled(waited)) return absl::OkStatus();
      if (absl::IsDeadlineExceeded(waited)) break;
      ABSL_RETURN_IF_ERROR(waited);
      again = sources->Happened();
    }
    const absl::Status stopped = WaitFd(stop_fd, POLLIN, absl::Now() + watch.settle, "settle");
    if (stopped.ok()) return absl::OkStatus();
    if (!absl::IsDeadlineExceeded(stopped)) return stopped;
    TakeEvents(inotify.get());
  }
}

}  // namespace berth::reaper
