// What a sweep is asked to do, and within which bounds.
#ifndef BERTH_REAPER_OPTIONS_H_
#define BERTH_REAPER_OPTIONS_H_

#include "absl/time/time.h"
#include "reaper/filter.h"

namespace berth::reaper {

struct Options {
  bool dry_run = false;        // decide and tell, change nothing
  bool show_kept = false;      // report what is kept, too, with its evidence
  bool adopt_codefly = false;  // sweep what codefly left, too
  Filter filter;
  absl::Duration older_than = absl::ZeroDuration();  // leave alone what is younger
  // Ended durable sessions are forgotten this long after they were made. Infinite: never.
  absl::Duration forget_ended = absl::InfiniteDuration();
  absl::Duration grace = absl::Seconds(5);             // between TERM and KILL
  absl::Duration time_per_object = absl::Seconds(30);  // to end one and prove it gone
  absl::Duration time = absl::Minutes(5);              // for everything
  absl::Duration lock_wait = absl::Seconds(10);        // for another reaper to finish
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_OPTIONS_H_
