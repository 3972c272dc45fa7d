// Reading /proc, for the helper.
#ifndef BERTH_SANDBOX_LAUNCHER_PROC_H_
#define BERTH_SANDBOX_LAUNCHER_PROC_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::launcher {

// The contents; empty if it cannot be read.
std::string ReadSmallFile(const char* path);
std::string ReadAllFrom(int fd);

// Of /proc/PID/stat: fields 3, 4, 9, 14 + 15, 22 and 24.
struct ProcStat {
  char state = '?';
  pid_t parent = 0;
  uint64_t flags = 0;
  uint64_t cpu_ticks = 0;
  uint64_t start_time = 0;
  int64_t rss_pages = 0;
};
bool ReadProcStat(pid_t pid, ProcStat* stat);

// All descendants of `root` there are now, parents before children. Not `root` itself, nor `except`
// and what is below those.
std::vector<pid_t> Descendants(pid_t root, const std::vector<pid_t>& except = {});

// Sends `signal` to each of them, by pidfd, after checking that it still is one. Returns how many.
int SignalDescendants(pid_t root, int signal, const std::vector<pid_t>& except = {});

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PROC_H_
