// The tmux window of one session: made, asked, taken away. All by the exact name berth-<uid>.
#ifndef BERTH_RUNTIME_TMUX_WINDOW_H_
#define BERTH_RUNTIME_TMUX_WINDOW_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tmux/control_client.h"
#include "runtime/tmux/tmux_server.h"
#include "runtime/types.h"

namespace berth::tmux {

// What is shown, and how.
struct WindowSpec {
  std::string uid;
  std::string name;  // seen in the status line
  std::string run_path;
  std::string helper_path;
  TerminalSize size;
  int history_lines = 0;
};

// A command line for ControlClient::Begin, and how many commands it has.
struct CommandLine {
  std::string text;
  int commands = 1;
};
// Answers with the pid of its pane's program.
CommandLine MakeWindow(const WindowSpec& spec);
// Shows the session again in a window whose pane program is gone.
CommandLine ReviveWindow(const WindowSpec& spec);

// What tmux says of it.
struct WindowState {
  bool there = false;
  bool closed = false;  // it was there, on this server, and somebody has closed it
  bool dead = false;    // the pane's program has ended
  int attached = 0;     // people who look at it
  pid_t pid = 0;        // of the pane's program
};
absl::StatusOr<WindowState> AskWindow(TmuxServer& server, absl::string_view uid);
// The same of all windows at once: what to ask, and the answer by uid.
CommandLine AskWindows();
absl::flat_hash_map<std::string, WindowState> ReadWindows(absl::string_view answer);

// The command, as argv, that takes the window away: for the keeper to run at its end.
std::vector<std::string> RemoveWindowCommand(const TmuxServer& server, absl::string_view uid);
// The same over a connection.
CommandLine RemoveWindowLine(absl::string_view uid);
// Fine if there is none.
absl::Status RemoveWindow(TmuxServer& server, absl::string_view uid);

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_WINDOW_H_
