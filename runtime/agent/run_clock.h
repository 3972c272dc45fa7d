// RunClock: when a run has been silent for too long, or has run for too long. Pure arithmetic: the
// caller has the clock.
//
// Silence is counted from the last output. A hard rate limit stops that count until exactly its
// reset time, from where the whole limit counts again; a notice that a limit is near changes
// nothing. Not thread-safe.
#ifndef BERTH_RUNTIME_AGENT_RUN_CLOCK_H_
#define BERTH_RUNTIME_AGENT_RUN_CLOCK_H_

#include <stdint.h>

#include "absl/time/time.h"

namespace berth {

class RunClock {
 public:
  // Times are a monotonic clock's, so that a clock that is set ends nothing.
  using Tick = absl::Duration;
  enum class Due : uint8_t { kNone, kInactivity, kWall };

  RunClock(absl::Duration inactivity, absl::Duration wall, Tick start)
      : inactivity_(inactivity), wall_end_(start + wall), last_(start), held_until_(start) {}

  void Activity(Tick now);
  // It cannot go on before `until`.
  void HoldUntil(Tick until);
  // It can go on after all.
  void Release();

  Tick Deadline() const;
  Due Check(Tick now) const;

 private:
  Tick InactivityEnd() const;

  const absl::Duration inactivity_;
  const Tick wall_end_;
  Tick last_, held_until_;
};

// CLOCK_MONOTONIC.
RunClock::Tick MonotonicNow();

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_RUN_CLOCK_H_
