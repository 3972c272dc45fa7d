#include "sandbox/launcher/tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "sandbox/launcher/proc.h"

namespace berth::launcher {

Tree::Tree(Cgroup leaf) : leaf_(std::move(leaf)) {
  if (!leaf_.ok()) prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Tree::Signal(int signal, const std::vector<pid_t>& except) const {
  for (const int each : {signal, signal == SIGTERM ? SIGCONT : 0}) {
    if (each == 0) continue;
    if (leaf_.ok()) {
      leaf_.Signal(each);
    } else {
      SignalDescendants(getpid(), each, except);
    }
  }
}

void Tree::Kill(const std::vector<pid_t>& except) const {
  if (leaf_.ok()) {
    leaf_.Kill();
    return;
  }
  // Stopped first, so that a tree that forks faster than we read cannot outrun us; a new one shows
  // up in a next pass.
  for (int passes = 0, found = -1; passes < 64; ++passes) {
    const int now = SignalDescendants(getpid(), SIGSTOP, except);
    if (now == found) break;
    found = now;
  }
  SignalDescendants(getpid(), SIGKILL, except);
}

bool Tree::Empty() const {
  if (leaf_.ok()) return leaf_.Empty();
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

}  // namespace berth::launcher
