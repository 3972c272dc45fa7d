// Program: what runs in the foreground, be it a process or a session.
#ifndef BERTH_TOOLS_BERTH_PROGRAM_H_
#define BERTH_TOOLS_BERTH_PROGRAM_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"

namespace berth::cli {

class Program {
 public:
  virtual ~Program() = default;
  // As a terminal does on Ctrl-C: to the main process and those that run in the foreground with it.
  virtual absl::Status Signal(int signal) = 0;
  virtual absl::StatusOr<ExitStatus> Stop(absl::Duration grace) = 0;
  virtual absl::StatusOr<ExitStatus> Wait(absl::Time deadline) = 0;
  virtual absl::StatusOr<UniqueFd> ExitFd() = 0;
  virtual absl::Status Resize(TerminalSize size) = 0;
};

// The process group that a program leads, held by a pidfd so that it cannot be mistaken for
// another's.
class ProcessGroup {
 public:
  // `pid` 0: there is none here.
  explicit ProcessGroup(pid_t pid);
  // False if that cannot be done here: before Linux 6.9, or the program runs elsewhere.
  bool Signal(int signal) const;
  void Forget() { pidfd_.reset(); }

 private:
  UniqueFd pidfd_;
};

// Neither owns what it is about.
class ProcessProgram final : public Program {
 public:
  explicit ProcessProgram(Process* process);
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override { return process_->Stop(grace); }
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override { return process_->Wait(deadline); }
  absl::StatusOr<UniqueFd> ExitFd() override { return process_->ExitFd(); }
  absl::Status Resize(TerminalSize size) override { return process_->Resize(size); }

 private:
  Process* const process_;
  ProcessGroup group_;
};

class SessionProgram final : public Program {
 public:
  // `pid` is that of its main process, as Info told it.
  SessionProgram(Session* session, pid_t pid);
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override { return session_->Stop(grace); }
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override { return session_->Wait(deadline); }
  absl::StatusOr<UniqueFd> ExitFd() override { return session_->ExitFd(); }
  absl::Status Resize(TerminalSize size) override { return session_->Resize(size); }

 private:
  Session* const session_;
  ProcessGroup group_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_PROGRAM_H_
