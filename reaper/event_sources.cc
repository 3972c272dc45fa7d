#include "reaper/event_sources.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/base/errno_status.h"

namespace berth::reaper {

absl::Status AddToEpoll(int epoll, int fd, uint64_t data) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = data;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return ErrnoStatus(errno, "epoll_ctl");
  return absl::OkStatus();
}

absl::StatusOr<FolderEvents> FolderEvents::Watch(const StateDir& dir) {
  UniqueFd inotify(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.ok()) return ErrnoStatus(errno, "inotify_init");
  for (const int folder : {dir.owners_fd(), dir.sessions_fd()}) {
    // By descriptor: the path may lead elsewhere by now.
    if (inotify_add_watch(inotify.get(), absl::StrCat("/proc/self/fd/", folder).c_str(),
                          IN_CREATE | IN_MOVED_TO) < 0) {
      return ErrnoStatus(errno, absl::StrCat("watch '", dir.path(), "'"));
    }
  }
  return FolderEvents(std::move(inotify));
}

bool FolderEvents::Take() const {
  alignas(inotify_event) char buffer[16384];
  bool matters = false;
  ssize_t length;
  while ((length = read(inotify_.get(), buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      // One without a name tells that events were lost.
      matters = matters || event->len == 0 || event->name[0] != '.';
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  return matters;
}

absl::StatusOr<EventSources> EventSources::Make(const FolderEvents& folders,
                                                const std::vector<Identity>& living,
                                                const Engines& engines, const Store& store,
                                                bool* missed) {
  EventSources made;
  made.epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!made.epoll_.ok()) return ErrnoStatus(errno, "epoll_create");
  ABSL_RETURN_IF_ERROR(AddToEpoll(made.epoll_.get(), folders.fd(), 0));
  made.sources_.push_back({UniqueFd(), [&folders](int) { return folders.Take(); }});
  for (const Identity& each : living) {
    absl::StatusOr<UniqueFd> pidfd = OpenProcess(each);
    *missed = *missed || absl::IsNotFound(pidfd.status());
    if (!pidfd.ok()) continue;
    ABSL_RETURN_IF_ERROR(made.Add({*std::move(pidfd), [](int) { return true; }}));
  }
  for (const auto& engine : engines) {
    for (EventSource& source : engine->Events(store)) {
      ABSL_RETURN_IF_ERROR(made.Add(std::move(source)));
    }
  }
  return made;
}

absl::Status EventSources::Add(EventSource source) {
  ABSL_RETURN_IF_ERROR(AddToEpoll(epoll_.get(), source.fd.get(), sources_.size()));
  sources_.push_back(std::move(source));
  return absl::OkStatus();
}

bool EventSources::Happened() const {
  bool matters = false;
  epoll_event ready[64];
  const int count = epoll_wait(epoll_.get(), ready, std::size(ready), 0);
  for (int i = 0; i < count; ++i) {
    const EventSource& source = sources_[ready[i].data.u64];
    matters = source.happened(source.fd.get()) || matters;
  }
  return matters;
}

}  // namespace berth::reaper
