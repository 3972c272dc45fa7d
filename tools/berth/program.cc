#include "tools/berth/program.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/session.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

namespace berth::cli {

ProcessGroup::ProcessGroup(pid_t pid)
    : pidfd_(pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, pid, 0)) : -1) {}

bool ProcessGroup::Signal(int signal) const {
  return pidfd_.ok() && syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr,
                                PIDFD_SIGNAL_PROCESS_GROUP) == 0;
}

ProcessProgram::ProcessProgram(Process* process) : process_(process), group_(process->pid()) {
  // One that ended before it was opened may have left its number to another.
  if (!absl::IsDeadlineExceeded(process->Wait(absl::InfinitePast()).status())) group_.Forget();
}

absl::Status ProcessProgram::Signal(int signal) {
  return group_.Signal(signal) ? absl::OkStatus() : process_->Signal(signal);
}

SessionProgram::SessionProgram(Session* session, pid_t pid) : session_(session), group_(pid) {
  const absl::StatusOr<SessionInfo> info = session->Info();
  if (!info.ok() || info->state != SessionState::kRunning || info->pid != pid) group_.Forget();
}

absl::Status SessionProgram::Signal(int signal) {
  return group_.Signal(signal) ? absl::OkStatus() : session_->Signal(signal);
}

}  // namespace berth::cli
