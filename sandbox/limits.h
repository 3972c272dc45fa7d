// Limits: what a session may use up. A part of a Policy; plain data.
#ifndef BERTH_SANDBOX_LIMITS_H_
#define BERTH_SANDBOX_LIMITS_H_

#include <stdint.h>

#include "absl/time/time.h"

namespace berth {

// Negative, and an infinite duration: no limit of ours.
struct Limits {
  int64_t memory_bytes = -1;  // of the whole tree
  int64_t swap_bytes = -1;    // besides memory_bytes
  int64_t pids = -1;          // processes and threads of the whole tree
  double cpus = -1;           // 1.5 is one and a half cores
  absl::Duration wall = absl::InfiniteDuration();
  int64_t file_bytes = -1;  // of each file that is written
  int64_t open_files = -1;  // of each process
  int64_t tmp_bytes = -1;   // of the private /tmp and /dev/shm, each

  friend bool operator==(const Limits&, const Limits&) = default;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_LIMITS_H_
