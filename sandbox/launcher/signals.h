// SIGCHLD as a descriptor, and deadlines as poll understands them.
#ifndef BERTH_SANDBOX_LAUNCHER_SIGNALS_H_
#define BERTH_SANDBOX_LAUNCHER_SIGNALS_H_

#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <unistd.h>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {

class ChildSignals {
 public:
  ChildSignals() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    fd_ = UniqueFd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  int fd() const { return fd_.get(); }
  // The child that it is about, 0 if there is none. Others may have ended too: SIGCHLD does not
  // queue, there is one at most.
  pid_t Drain() const {
    signalfd_siginfo info;
    const bool any = read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info));
    return any ? static_cast<pid_t>(info.ssi_pid) : 0;
  }

 private:
  UniqueFd fd_;
};

// Milliseconds from now until `at` (ns, CLOCK_MONOTONIC), rounded up; -1 if that is never.
inline int PollTimeout(uint64_t at) {
  if (at == kNever) return -1;
  const uint64_t now = NowNs();
  if (at <= now) return 0;
  const uint64_t ms = (at - now + 999999) / 1000000;
  return ms > 1000000000 ? 1000000000 : static_cast<int>(ms);
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_SIGNALS_H_
