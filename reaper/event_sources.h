// EventSources: everything that a sweep may have to follow on, behind one descriptor.
#ifndef BERTH_REAPER_EVENT_SOURCES_H_
#define BERTH_REAPER_EVENT_SOURCES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "reaper/engine.h"
#include "runtime/record/identity.h"
#include "runtime/record/state_dir.h"
#include "runtime/record/store.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {

// Adds `fd` to an epoll, to be waited for until it is readable.
absl::Status AddToEpoll(int epoll, int fd, uint64_t data);

// New leases and new sessions. What a sweep itself does (it opens leases, and moves and removes
// sessions) makes none of these events, but for names that begin with a dot.
class FolderEvents {
 public:
  static absl::StatusOr<FolderEvents> Watch(const StateDir& dir);
  int fd() const { return inotify_.get(); }
  // Takes what there is to read. Whether any of it matters.
  bool Take() const;

 private:
  explicit FolderEvents(UniqueFd inotify) : inotify_(std::move(inotify)) {}
  UniqueFd inotify_;
};

class EventSources {
 public:
  // Of the folders, which must outlive it, of those who live, and of what engines noted. `missed`:
  // one of the living has ended already.
  static absl::StatusOr<EventSources> Make(const FolderEvents& folders,
                                           const std::vector<Identity>& living,
                                           const Engines& engines, const Store& store,
                                           bool* missed);
  int fd() const { return epoll_.get(); }
  // Takes what happened. Whether any of it matters.
  bool Happened() const;

 private:
  absl::Status Add(EventSource source);

  UniqueFd epoll_;
  std::vector<EventSource> sources_;
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_EVENT_SOURCES_H_
