// What a helper does first, whatever its mode.
#ifndef BERTH_SANDBOX_LAUNCHER_SETTLE_IN_H_
#define BERTH_SANDBOX_LAUNCHER_SETTLE_IN_H_

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

namespace berth::launcher {

// Of launcher mode, with all signals blocked, which they stay. What a terminal or a shell sends to
// all of the host's group is for the host alone: what has come until we are in a group of our own
// is dropped.
inline void LeaveGroup() {
  setsid();
  sigset_t all;
  sigfillset(&all);
  const timespec now{};
  while (sigtimedwait(&all, nullptr, &now) > 0) {
  }
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
