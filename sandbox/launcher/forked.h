// ForkedLauncher: a launcher that is a copy of this process.
//
// For a command that starts one thing and goes. What the library does for its hosts
// (start_helper.h) is right for any of them; but to copy the helper into its memfd, to execute it
// and to start its C library takes a millisecond, half as long as a sandbox. A command of one
// thread can be copied instead, and its copy be the launcher from there on: it outlives a command
// that is killed, as the other does, and cleans up after it.
//
// The copy, and the init of a sandbox that is made from it, have the command's own file on the
// host's disk as their program. Both are non-dumpable, so that nobody in a sandbox can open it;
// what executes the program inside is the trampoline (trampoline.cc).
#ifndef BERTH_SANDBOX_LAUNCHER_FORKED_H_
#define BERTH_SANDBOX_LAUNCHER_FORKED_H_

#include <sys/types.h>

namespace berth::launcher {

class ForkedLauncher {
 public:
  // Call it while the process has one thread. The next LauncherClient takes it; where it cannot be
  // made, or the process is under a sanitizer, that one starts its own as ever. `argv`, which is
  // main's, may be null: in the copy it is overwritten, since a sandbox can read the command line
  // of its init.
  explicit ForkedLauncher(char** argv);
  // After that client, or without one: returns once the copy is gone.
  ~ForkedLauncher();
  ForkedLauncher(const ForkedLauncher&) = delete;
  ForkedLauncher& operator=(const ForkedLauncher&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_FORKED_H_
