// Sweeping whenever there may be something to do: when an owner or the keeper of a durable session
// ends, when a new owner or a new session appears, when an engine tells of the end of a container
// of ours, when an engine that records name ends or comes back. Nothing is polled: an idle watch
// costs nothing.
#ifndef BERTH_REAPER_WATCH_H_
#define BERTH_REAPER_WATCH_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"

namespace berth::reaper {

struct WatchOptions {
  // How long after an event the sweep begins, so that many at once make one.
  absl::Duration settle = absl::Milliseconds(100);
  // Sweeps after this time even if nothing happened: what depends on age needs it. Infinite: never.
  absl::Duration every = absl::InfiniteDuration();
};

// Sweeps at once, and then after each event, until `stop_fd` is readable. Tells each report, or why
// there is none (another reaper is at work: it is tried again at the next event). Returns OK when
// stopped, or what keeps it from watching.
absl::Status Watch(const Store& store, const Options& options, const WatchOptions& watch,
                   const Engines& engines, int stop_fd,
                   absl::FunctionRef<void(const absl::StatusOr<Report>&)> tell);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_WATCH_H_
