// Tracked: what the kernel says of one process, its state, CPU time and memory, read from /proc
// without running anything. Trees and sessions: Process::GetStats, Session::GetStats.
//
//   ABSL_ASSIGN_OR_RETURN(Identity server, IdentifyProcess(process->pid()));
//   if (Track(server).state == ProcessState::kZombie) …
//
// By identity, so a pid that was used again is not mistaken for the process. Thread-safe.
#ifndef BERTH_RUNTIME_TRACKED_H_
#define BERTH_RUNTIME_TRACKED_H_

#include <stdint.h>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"

namespace berth {

// As /proc/PID/stat tells it.
enum class ProcessState : uint8_t {
  kUnknown = 0,   // nothing is known: no /proc, or another pid namespace's process
  kNotFound = 1,  // it has ended, or its pid is another's now
  kRunning = 2,
  kInterruptibleSleep = 3,
  kUninterruptibleSleep = 4,
  kStopped = 5,
  kZombie = 6,
  kDead = 7,
  kTracingStop = 8,
  kIdle = 9,
  kParked = 10,
  kWaking = 11,
};
// "running", "interruptible sleep", …
absl::string_view ProcessStateName(ProcessState state);
// Of the letter in /proc/PID/stat.
ProcessState ProcessStateOf(char letter);

struct TrackedProcess {
  ProcessState state = ProcessState::kUnknown;
  absl::Duration cpu;         // user and system, so far
  int64_t memory_bytes = -1;  // resident; negative: not known
};

TrackedProcess Track(const Identity& identity);

}  // namespace berth

#endif  // BERTH_RUNTIME_TRACKED_H_
