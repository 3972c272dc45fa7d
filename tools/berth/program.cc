#include "tools/berth/program.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "runtime/process.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

namespace berth::cli {

ProcessProgram::ProcessProgram(Process* process)
    : process_(process),
      pidfd_(process->pid() > 0 ? static_cast<int>(syscall(SYS_pidfd_open, process->pid(), 0)) : -1) {}

absl::Status ProcessProgram::Signal(int signal) {
  // The process leads a group of its own. By pidfd the group cannot be mistaken for another's; Linux 6.9 and later.
  if (pidfd_.ok() &&
      syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, PIDFD_SIGNAL_PROCESS_GROUP) == 0) {
    return absl::OkStatus();
  }
  return process_->Signal(signal);
}

}  // namespace berth::cli
