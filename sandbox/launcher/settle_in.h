// What a helper does first, whatever its mode.
#ifndef BERTH_SANDBOX_LAUNCHER_SETTLE_IN_H_
#define BERTH_SANDBOX_LAUNCHER_SETTLE_IN_H_

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace berth::launcher {

// Of launcher mode, with all signals blocked, before SettleIn. What a terminal or a shell sends to
// all of the host's group is for the host alone: what has come until now is dropped, and so is what
// comes until we are in a group of our own.
inline void LeaveGroup() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
  // One that is blocked is kept, also if it is ignored.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  prctl(PR_SET_NAME, "berth-launcher");
}

// False if it cannot be where it is to be.
inline bool SettleIn() {
  // Whatever the host ignored or caught is as at boot here, but for SIGPIPE and SIGXFSZ: a reader
  // that goes away and a log that has reached the user's limit for files are errnos.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  if (chdir("/") != 0) return false;  // keeps no file system busy
  // Nobody of the same user may look into a helper that holds the descriptors of others.
  prctl(PR_SET_DUMPABLE, 0);
  return true;
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_SETTLE_IN_H_
