#include "runtime/tracked.h"

#include <unistd.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"
#include "sandbox/launcher/proc.h"

namespace berth {

absl::string_view ProcessStateName(ProcessState state) {
  switch (state) {
    case ProcessState::kUnknown:
      return "unknown";
    case ProcessState::kNotFound:
      return "not found";
    case ProcessState::kRunning:
      return "running";
    case ProcessState::kInterruptibleSleep:
      return "interruptible sleep";
    case ProcessState::kUninterruptibleSleep:
      return "uninterruptible sleep";
    case ProcessState::kStopped:
      return "stopped";
    case ProcessState::kZombie:
      return "zombie";
    case ProcessState::kDead:
      return "dead";
    case ProcessState::kTracingStop:
      return "tracing stop";
    case ProcessState::kIdle:
      return "idle";
    case ProcessState::kParked:
      return "parked";
    case ProcessState::kWaking:
      return "waking";
  }
  return "unknown";
}

ProcessState ProcessStateOf(char letter) {
  switch (letter) {
    case 'R':
      return ProcessState::kRunning;
    case 'S':
      return ProcessState::kInterruptibleSleep;
    case 'D':
      return ProcessState::kUninterruptibleSleep;
    case 'T':
      return ProcessState::kStopped;
    case 't':
      return ProcessState::kTracingStop;
    case 'Z':
      return ProcessState::kZombie;
    case 'X':
    case 'x':
      return ProcessState::kDead;
    case 'I':
      return ProcessState::kIdle;
    case 'P':
      return ProcessState::kParked;
    case 'W':
      return ProcessState::kWaking;
    default:
      return ProcessState::kUnknown;
  }
}

TrackedProcess Track(const Identity& identity) {
  TrackedProcess out;
  if (identity.pid <= 0 || identity.boot_id.empty()) return out;
  if (const absl::StatusOr<std::string> boot = BootId(); !boot.ok() || *boot != identity.boot_id) {
    if (boot.ok()) out.state = ProcessState::kNotFound;
    return out;
  }
  launcher::ProcStat stat;
  if (!launcher::ReadProcStat(static_cast<pid_t>(identity.pid), &stat)) {
    if (CheckIdentity(identity) == Liveness::kDead) out.state = ProcessState::kNotFound;
    return out;
  }
  if (stat.start_time != identity.start_time) {
    out.state = ProcessState::kNotFound;
    return out;
  }
  out.state = ProcessStateOf(stat.state);
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  out.cpu = absl::Seconds(static_cast<double>(stat.cpu_ticks) / ticks);
  out.memory_bytes = stat.rss_pages * sysconf(_SC_PAGESIZE);
  return out;
}

}  // namespace berth
