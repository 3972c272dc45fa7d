// Process: one running program and everything that it starts.
//
//   ABSL_ASSIGN_OR_RETURN(auto process, runtime->Spawn({.command = Command::Argv({"make"})}));
//   ABSL_ASSIGN_OR_RETURN(UniqueFd out, process->TakeStdout());
//   ABSL_ASSIGN_OR_RETURN(ExitStatus status, process->Wait(absl::Now() + absl::Minutes(5)));
//
// Ownership: the object owns the process tree. Destroying it ends the tree (KILL) and returns once
// it is gone. When the main process ends by itself, whatever it left running is ended too: nothing
// outlives it. Threads: every call may be made from any thread, any number at once.
#ifndef BERTH_RUNTIME_PROCESS_H_
#define BERTH_RUNTIME_PROCESS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/violation.h"

namespace berth {

// When each step of a start was reached, CLOCK_MONOTONIC. Zero: not on this engine.
struct StartTiming {
  absl::Duration requested, received, started, replied;
};

class Process {
 public:
  virtual ~Process() = default;

  // The main process as this machine's /proc shows it; 0 where the engine runs it elsewhere.
  virtual pid_t pid() const = 0;
  virtual bool is_pty() const = 0;
  virtual StartTiming timing() const = 0;

  // The caller's ends of the streams, as plain byte descriptors: each once, then
  // FailedPrecondition; also FailedPrecondition for one that is not a pipe. Byte-exact; a pipe
  // holds 1 MiB, and a program that writes more than is read waits. With a terminal: stdout reads,
  // stdin writes, there is no stderr.
  virtual absl::StatusOr<UniqueFd> TakeStdin() = 0;
  virtual absl::StatusOr<UniqueFd> TakeStdout() = 0;
  virtual absl::StatusOr<UniqueFd> TakeStderr() = 0;

  virtual absl::Status Resize(TerminalSize size) = 0;

  // To the main process alone. FailedPrecondition once it has ended.
  virtual absl::Status Signal(int signal) = 0;

  // TERM to the whole tree, KILL after `grace`; returns how the main process ended, once everything
  // is gone.
  virtual absl::StatusOr<ExitStatus> Stop(absl::Duration grace) = 0;

  // How the main process ended. Any number of callers, any number of times: all get the same
  // answer. DeadlineExceeded if it still runs then.
  virtual absl::StatusOr<ExitStatus> Wait(absl::Time deadline) = 0;

  // A descriptor of the caller's own that becomes readable once Wait would return at once. For
  // poll; never read it.
  virtual absl::StatusOr<UniqueFd> ExitFd() = 0;

  virtual absl::StatusOr<Stats> GetStats() = 0;

  // What its policy has stopped, oldest first: the last ones, if there are many. Also for a while
  // after its end.
  virtual absl::StatusOr<std::vector<Violation>> Violations() { return std::vector<Violation>(); }
};

}  // namespace berth

#endif  // BERTH_RUNTIME_PROCESS_H_
