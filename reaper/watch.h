// Sweeping whenever there may be something to do: when an owner or the keeper of a durable session
// ends, when a new owner or a new session appears, when an engine tells of the end of a container
// of ours, when an engine that records name ends or comes back. Nothing is polled: an idle watch
// costs nothing.
//
//   ABSL_ASSIGN_OR_RETURN(auto watcher, Watcher::Make(*store, {}, {}, engines));
//   while (true) {
//     ABSL_RETURN_IF_ERROR(WaitFd(watcher->fd(), POLLIN, deadline, "wait for the watch"));
//     ABSL_RETURN_IF_ERROR(watcher->Next([](const absl::StatusOr<Report>& report) { … }));
//   }
#ifndef BERTH_REAPER_WATCH_H_
#define BERTH_REAPER_WATCH_H_

#include <atomic>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reaper/engine.h"
#include "reaper/event_sources.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {

struct WatchOptions {
  // How long after an event the sweep begins, so that many at once make one.
  absl::Duration settle = absl::Milliseconds(100);
  // Sweeps after this time even if nothing happened: what depends on age needs it. Infinite: never.
  absl::Duration every = absl::InfiniteDuration();
};

// For one thread at a time, but for Stop. `store` and `engines` must outlive it.
class Watcher {
 public:
  // The first sweep is due at once.
  static absl::StatusOr<std::unique_ptr<Watcher>> Make(const Store& store, const Options& options,
                                                       const WatchOptions& watch,
                                                       const Engines& engines);

  // Readable while Next has something to do: for poll, never read it.
  int fd() const { return ready_.get(); }

  // A report, or why there is none (another reaper is at work: it is tried again at the next
  // event).
  using Tell = absl::FunctionRef<void(const absl::StatusOr<Report>&)>;
  // Takes what happened and, if that is due, sweeps and tells; a sweep takes Options::time at most.
  // Does not wait for anything to happen. The error is what keeps it from watching, now and later.
  // Cancelled once it is stopped.
  absl::Status Next(Tell tell);
  // Any thread may. A sweep that has begun is finished.
  void Stop();

 private:
  Watcher(const Store& store, const Options& options, const WatchOptions& watch,
          const Engines& engines)
      : store_(store), options_(options), watch_(watch), engines_(engines) {}
  absl::Status Sweep(Tell tell);
  void Forget();
  // The next sweep is that far away.
  absl::Status SetTimer(absl::Duration delay);

  const Store& store_;
  const Options options_;
  const WatchOptions watch_;
  const Engines& engines_;
  UniqueFd ready_, timer_, stop_;
  std::optional<FolderEvents> folders_;
  std::optional<EventSources> sources_;  // none while a sweep is due anyway
  absl::Status broken_;
  std::atomic<bool> stopped_ = false;
};

// Sweeps at once, and then after each event, until `stop_fd` is readable. Returns OK when stopped,
// or what keeps it from watching.
absl::Status Watch(const Store& store, const Options& options, const WatchOptions& watch,
                   const Engines& engines, int stop_fd, Watcher::Tell tell);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_WATCH_H_
