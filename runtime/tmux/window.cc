#include "runtime/tmux/window.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/tmux/quote.h"
#include "sandbox/launcher/pane_protocol.h"

namespace berth::tmux {
namespace {

// Several words: tmux executes them without a shell between.
std::string PaneCommand(const WindowSpec& spec) {
  return absl::StrCat(Quote(spec.helper_path), " ", launcher::kPaneMode, " ", Quote(spec.run_path),
                      " ", spec.uid, " ", spec.grace_ms);
}

}  // namespace

CommandLine MakeWindow(const WindowSpec& spec) {
  // The history of a window is as long as the option said when it was made. One line, so that
  // another program's window does not come between the two.
  return {absl::StrCat("set-option -g history-limit ", spec.history_lines, " ; new-session -d -s ",
                       SessionName(spec.uid), " -n ", QuoteFormat(spec.name), " -c / -x ",
                       spec.size.cols, " -y ", spec.size.rows, " ", PaneCommand(spec)),
          2};
}

CommandLine ReviveWindow(const WindowSpec& spec) {
  return {absl::StrCat("respawn-pane -k -t ", Target(spec.uid), " ", PaneCommand(spec)), 1};
}

absl::StatusOr<WindowState> AskWindow(TmuxServer& server, absl::string_view uid) {
  const absl::StatusOr<std::string> answer = server.Call(
      absl::StrCat("display-message -p -t ", Target(uid),
                   " \"#{session_name} #{pane_dead} #{session_attached} #{pane_pid}\""));
  if (absl::IsNotFound(answer.status())) return WindowState{};
  ABSL_RETURN_IF_ERROR(answer.status());
  // Of a target that is not there, newer ones tell nothing, in empty words.
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::StripAsciiWhitespace(*answer), ' ');
  WindowState state;
  if (words.size() != 4 || words[0] != SessionName(uid)) return state;
  state.there = true;
  state.dead = words[1] == "1";
  if (!absl::SimpleAtoi(words[2], &state.attached)) state.attached = 0;
  if (!absl::SimpleAtoi(words[3], &state.pid)) state.pid = 0;
  return state;
}

std::vector<std::string> RemoveWindowCommand(const TmuxServer& server, absl::string_view uid) {
  std::vector<std::string> command = server.ClientCommand();
  for (const char* word : {"-N", "kill-session", "-t"}) command.push_back(word);
  command.push_back(absl::StrCat("=", SessionName(uid)));
  return command;
}

absl::Status RemoveWindow(TmuxServer& server, absl::string_view uid) {
  const absl::Status removed =
      server.Call(absl::StrCat("kill-session -t =", SessionName(uid))).status();
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

}  // namespace berth::tmux
