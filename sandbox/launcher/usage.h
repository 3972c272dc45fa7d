// What a tree of processes uses, without running `ps`.
#ifndef BERTH_SANDBOX_LAUNCHER_USAGE_H_
#define BERTH_SANDBOX_LAUNCHER_USAGE_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::launcher {

struct Usage {
  uint64_t cpu_ns = 0;
  int64_t rss_bytes = 0;
  int64_t processes = 0;
  int64_t read_bytes = -1, write_bytes = -1;  // -1: not permitted to know
};

// Sums over living processes.
Usage UsageOf(const std::vector<pid_t>& pids);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_USAGE_H_
