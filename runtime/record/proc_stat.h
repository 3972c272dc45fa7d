// The parts of /proc/PID/stat that tell processes apart. Internal to runtime/record.
#ifndef BERTH_RUNTIME_RECORD_PROC_STAT_H_
#define BERTH_RUNTIME_RECORD_PROC_STAT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace berth {

struct ProcStat {
  char state = '?';         // field 3
  int64_t threads = 0;      // field 20
  uint64_t start_time = 0;  // field 22
};

// The comm in field 2 is the workload's to choose and may hold spaces, newlines and parentheses.
std::optional<ProcStat> ParseProcStat(absl::string_view text);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_PROC_STAT_H_
