// Pane mode: a session, shown in a window of a terminal manager.
//
// The window's program, started by the manager's server. It copies the session's output to its
// terminal and what is typed there to the session, and tells the session the window's size. When
// the session has ended it ends in the same way: with its code, or by its signal. When the window
// is closed it stops the session; when the manager's server dies it only goes, and the session
// stays to be shown again.
#ifndef BERTH_SANDBOX_LAUNCHER_PANE_H_
#define BERTH_SANDBOX_LAUNCHER_PANE_H_

namespace berth::launcher {

// Shows the session whose keeper listens at <run>/<uid>. Returns the exit code, if it exits.
int RunPane(const char* run, const char* uid);

// Stays until its window is closed or the process has ended that is meant: by number, start time
// and the inode of the pid namespace in which they count.
int RunHold(const char* pid, const char* start_time, const char* pid_namespace);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_PANE_H_
