// How the end of a process is told.
#ifndef BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_
#define BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sandbox/launcher/protocol.h"

namespace berth::launcher {

// EndReason::kViolation of runtime/types.h.
inline constexpr uint8_t kEndedByViolation = 8;

// `status` as waitpid gave it; `stopped`: a signal of ours was sent before; `filtered`: a filter of
// ours is what sends SIGSYS.
inline ExitNotice MakeExitNotice(int status, bool stopped, bool filtered = false) {
  ExitNotice notice;
  if (WIFSIGNALED(status)) {
    notice.signal = WTERMSIG(status);
    if (filtered && notice.signal == SIGSYS) notice.reason = kEndedByViolation;
  } else {
    notice.code = WEXITSTATUS(status);
  }
  notice.stopped = stopped;
  return notice;
}

inline void SendExitNotice(int socket, const ExitNotice& notice) {
  send(socket, &notice, sizeof(notice), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_
