// Launcher mode: one per Runtime. Starts processes for a host that must not fork, and ends them
// when the host is gone.
#ifndef BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_
#define BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_

namespace berth::launcher {

// Serves kControlFd until the other side closes it. `self` executes this program again; `tag` is in
// the name of its cgroup. Returns the exit code.
int RunLauncher(int self, const char* tag);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_LAUNCHER_H_
