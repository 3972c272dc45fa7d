// How the end of a process is told.
#ifndef BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_
#define BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_

#include <sys/socket.h>
#include <sys/wait.h>

#include "sandbox/launcher/protocol.h"

namespace berth::launcher {

// `status` as waitpid gave it; `stopped`: a signal of ours was sent before.
inline ExitNotice MakeExitNotice(int status, bool stopped) {
  ExitNotice notice;
  if (WIFSIGNALED(status)) {
    notice.signal = WTERMSIG(status);
  } else {
    notice.code = WEXITSTATUS(status);
  }
  notice.stopped = stopped;
  return notice;
}

inline void SendExitNotice(int socket, int status, bool stopped) {
  const ExitNotice notice = MakeExitNotice(status, stopped);
  send(socket, &notice, sizeof(notice), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_EXIT_NOTICE_H_
