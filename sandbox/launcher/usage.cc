#include "sandbox/launcher/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

#include "sandbox/launcher/proc.h"

namespace berth::launcher {
namespace {

int64_t Field(const std::string& text, const char* name) {
  const size_t at = text.find(name);
  return at == std::string::npos ? -1 : atoll(text.c_str() + at + strlen(name));
}

void Add(int64_t* sum, int64_t value) {
  if (value >= 0) *sum = (*sum < 0 ? 0 : *sum) + value;
}

}  // namespace

Usage UsageOf(const std::vector<pid_t>& pids) {
  static const uint64_t ns_per_tick = 1000000000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  static const int64_t page = sysconf(_SC_PAGESIZE);
  Usage usage;
  for (const pid_t pid : pids) {
    ProcStat stat;
    if (!ReadProcStat(pid, &stat) || stat.state == 'Z') continue;
    usage.cpu_ns += stat.cpu_ticks * ns_per_tick;
    usage.rss_bytes += stat.rss_pages * page;
    ++usage.processes;
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/io", pid);
    const std::string io = ReadSmallFile(path);
    Add(&usage.read_bytes, Field(io, "\nread_bytes: "));
    Add(&usage.write_bytes, Field(io, "\nwrite_bytes: "));
  }
  return usage;
}

}  // namespace berth::launcher
