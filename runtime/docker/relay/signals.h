// How the library tells a relay what it cannot tell by the signal itself: KILL and STOP would be
// the relay's own, TERM is what its keeper stops it with, WINCH and CHLD come by themselves.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_SIGNALS_H_
#define BERTH_RUNTIME_DOCKER_RELAY_SIGNALS_H_

#include <signal.h>

namespace berth::relay {

inline constexpr int kDisguised[] = {SIGTERM, SIGKILL, SIGSTOP, SIGWINCH, SIGCHLD};

// The signal to send to the relay for `signal` to the main program; -1 if there is none.
inline int Disguise(int signal) {
  for (int i = 0; i < 5; ++i) {
    if (kDisguised[i] == signal) return SIGRTMIN + 1 + i;
  }
  return signal > 0 && signal < SIGRTMIN ? signal : -1;
}
inline int Undisguise(int signal) {
  const int i = signal - SIGRTMIN - 1;
  return i >= 0 && i < 5 ? kDisguised[i] : signal;
}

// For the whole tree of an exec.
inline int TermTree() { return SIGRTMIN + 10; }
inline int KillTree() { return SIGRTMIN + 11; }

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_SIGNALS_H_
