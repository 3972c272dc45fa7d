#include "runtime/agent/run_clock.h"

#include <time.h>

#include <algorithm>

#include "absl/time/time.h"

namespace berth {

void RunClock::Activity(Tick now) { last_ = std::max(last_, now); }

void RunClock::HoldUntil(Tick until) { held_until_ = std::max(held_until_, until); }

void RunClock::Release() { held_until_ = last_; }

RunClock::Tick RunClock::InactivityEnd() const {
  return std::max(last_, held_until_) + inactivity_;
}

RunClock::Tick RunClock::Deadline() const { return std::min(InactivityEnd(), wall_end_); }

RunClock::Due RunClock::Check(Tick now) const {
  if (now >= wall_end_) return Due::kWall;
  return now >= InactivityEnd() ? Due::kInactivity : Due::kNone;
}

RunClock::Tick MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace berth
