#include "runtime/tmux/window.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/tmux/quote.h"
#include "sandbox/launcher/pane_protocol.h"

namespace berth::tmux {
namespace {

// Several words: tmux executes them without a shell between.
std::string PaneCommand(const WindowSpec& spec) {
  return absl::StrCat(Quote(spec.helper_path), " ", launcher::kPaneMode, " ", Quote(spec.run_path),
                      " ", spec.uid);
}

// An option of the server's own: it has shown that session. So a window that is not there was
// closed by somebody; or the server is another one, and does not have the option.
std::string Mark(absl::string_view uid) { return absl::StrCat("@", SessionName(uid)); }

constexpr char kFormat[] = "#{session_name} #{pane_dead} #{session_attached} #{pane_pid}";

// A line of kFormat. Not `there`, and "", for another session than one of ours: of a target that is
// not there, newer ones tell nothing, in empty words.
std::pair<std::string, WindowState> ReadWindow(absl::string_view line) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::StripAsciiWhitespace(line), ' ');
  WindowState state;
  absl::string_view uid = words[0];
  if (words.size() != 4 || !absl::ConsumePrefix(&uid, SessionName(""))) return {"", state};
  state.there = true;
  state.dead = words[1] == "1";
  if (!absl::SimpleAtoi(words[2], &state.attached)) state.attached = 0;
  if (!absl::SimpleAtoi(words[3], &state.pid)) state.pid = 0;
  return {std::string(uid), state};
}

}  // namespace

CommandLine MakeWindow(const WindowSpec& spec) {
  // The history of a window is as long as the option said when it was made. One line, so that
  // another program's window does not come between the two.
  return {absl::StrCat("set-option -g history-limit ", spec.history_lines,
                       " ; new-session -d -P -F \"#{pane_pid}\" -s ", SessionName(spec.uid), " -n ",
                       QuoteFormat(spec.name), " -c / -x ", spec.size.cols, " -y ", spec.size.rows,
                       " ", PaneCommand(spec), " ; set-option -s ", Mark(spec.uid), " shown"),
          3};
}

CommandLine ReviveWindow(const WindowSpec& spec) {
  return {absl::StrCat("respawn-pane -k -t ", Target(spec.uid), " ", PaneCommand(spec)), 1};
}

absl::StatusOr<WindowState> AskWindow(TmuxServer& server, absl::string_view uid) {
  const absl::StatusOr<std::string> answer =
      server.Call(absl::StrCat("display-message -p -t ", Target(uid), " \"", kFormat, "\""));
  if (!answer.ok() && !absl::IsNotFound(answer.status())) return answer.status();
  const auto [whose, state] = ReadWindow(answer.value_or(""));
  if (whose == uid) return state;
  ABSL_ASSIGN_OR_RETURN(const std::string shown,
                        server.Call(absl::StrCat("show-options -sqv ", Mark(uid))));
  return WindowState{.closed = !shown.empty()};
}

CommandLine AskWindows() { return {absl::StrCat("list-panes -a -F \"", kFormat, "\"")}; }

absl::flat_hash_map<std::string, WindowState> ReadWindows(absl::string_view answer) {
  absl::flat_hash_map<std::string, WindowState> windows;
  for (const absl::string_view line : absl::StrSplit(answer, '\n', absl::SkipEmpty())) {
    auto [uid, state] = ReadWindow(line);
    if (state.there) windows.emplace(std::move(uid), state);
  }
  return windows;
}

std::vector<std::string> RemoveWindowCommand(const TmuxServer& server, absl::string_view uid) {
  std::vector<std::string> command = server.ClientCommand();
  for (const char* word : {"-N", "set-option", "-su"}) command.push_back(word);
  command.push_back(Mark(uid));
  for (const char* word : {";", "kill-session", "-t"}) command.push_back(word);
  command.push_back(absl::StrCat("=", SessionName(uid)));
  return command;
}

CommandLine RemoveWindowLine(absl::string_view uid) {
  return {absl::StrCat("set-option -su ", Mark(uid), " ; kill-session -t =", SessionName(uid)), 2};
}

absl::Status RemoveWindow(TmuxServer& server, absl::string_view uid) {
  const CommandLine line = RemoveWindowLine(uid);
  const absl::Status removed = server.Call(line.text, line.commands).status();
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

}  // namespace berth::tmux
