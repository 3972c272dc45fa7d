#include "runtime/tmux/tmux_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/tmux/quote.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pane_protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {

using tmux::WindowState;

absl::Status TmuxSession::ShowAgain(const WindowState& window) {
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer, AskKeeper(launcher::kHowToShow));
  launcher::Reader in = answer.reader();
  tmux::WindowSpec spec;
  spec.uid = uid_;
  spec.name = keeper_->name();
  spec.run_path = store_->dir().run_path();
  spec.helper_path = server_->helper_path();
  spec.history_lines = in.Get<int32_t>();
  spec.size.rows = in.Get<uint16_t>();
  spec.size.cols = in.Get<uint16_t>();
  if (!in.done()) return absl::InternalError("the session's keeper gave a malformed answer");
  const tmux::CommandLine line = window.there ? ReviveWindow(spec) : MakeWindow(spec);
  const absl::Status shown = server_->Call(line.text, line.commands).status();
  return absl::IsAlreadyExists(shown) ? absl::OkStatus() : shown;  // another program was faster
}

absl::StatusOr<launcher::Message> TmuxSession::AskKeeper(uint16_t type) const {
  return KeeperChannel(store_->dir().run_fd(), uid_)
      .Call(type, "", -1, absl::Now() + tmux::kAnswerTime);
}

bool TmuxSession::LeaderRuns() const { return leader_.ok() && !tmux::HasEnded(*leader_); }

absl::StatusOr<WindowState> TmuxSession::Window() {
  const absl::Status reached = server_->Reach().status();
  const absl::StatusOr<WindowState> asked =
      reached.ok() ? tmux::AskWindow(*server_, uid_) : reached;
  ABSL_RETURN_IF_ERROR(server_->Note(asked.status()));
  const WindowState& window = *asked;
  if ((window.there && !window.dead) || !LeaderRuns()) return window;
  if (window.closed) {
    // Its program tells the keeper; but not one that was killed before it had begun.
    ABSL_RETURN_IF_ERROR(AskKeeper(launcher::kClosed).status());
    return window;
  }
  ABSL_RETURN_IF_ERROR(ShowAgain(window));
  return WindowState{.there = true};
}

void AddWindow(const absl::StatusOr<WindowState>& window, SessionInfo* info) {
  if (!window.ok()) {
    // Its end is known without the server; that it runs as it should is not.
    if (info->state == SessionState::kRunning) info->state = SessionState::kUnknown;
    return;
  }
  // To its keeper the window is a viewer like any other.
  const int panes = window->there && !window->dead ? 1 : 0;
  info->attached = std::max(info->attached - panes, 0) + window->attached;
}

absl::StatusOr<SessionInfo> TmuxSession::Info() {
  ABSL_ASSIGN_OR_RETURN(SessionInfo info, keeper_->Info());
  info.address = server_->socket_path();
  if (info.state != SessionState::kStarting) AddWindow(Window(), &info);
  return info;
}

LivenessReport TmuxSession::CheckLiveness() {
  const auto by_keeper = [this] {
    if (has_begun_ && LeaderRuns())
      return LivenessReport{Liveness::kAlive, "its main process runs"};
    LivenessReport report = keeper_->CheckLiveness();
    if (report.liveness == Liveness::kAlive) has_begun_ = true;
    return report;
  };
  // The end of a session is known without the server.
  if (LivenessReport report = by_keeper(); report.liveness != Liveness::kAlive) return report;
  // Of one that runs tmux is asked for no more than whether it is there: this is called often.
  absl::Status shown =
      server_->Ask(absl::StrCat("has-session -t =", tmux::SessionName(uid_))).status();
  if (absl::IsNotFound(shown)) shown = Window().status();
  LivenessReport report = by_keeper();
  if (report.liveness == Liveness::kAlive && !shown.ok())
    return {Liveness::kUnknown, std::string(shown.message())};
  return report;
}

absl::Status TmuxSession::Resize(TerminalSize size) {
  // First the program's terminal, so that it has its size when this returns; the window tells the
  // same once more.
  ABSL_RETURN_IF_ERROR(keeper_->Resize(size));
  const absl::Status shown = server_
                                 ->Call(absl::StrCat("resize-window -t ", tmux::Target(uid_),
                                                     " -x ", size.cols, " -y ", size.rows))
                                 .status();
  return absl::IsNotFound(shown) || absl::IsUnavailable(shown) ? absl::OkStatus() : shown;
}

std::vector<std::string> TmuxSession::AttachCommand() const {
  std::vector<std::string> command = {"env", "-u", "TMUX"};  // of a tmux of the person's own
  if (server_->client_cwd() != "/") {
    command.push_back("-C");
    command.push_back(server_->client_cwd());
  }
  for (const std::string& word : server_->ClientCommand()) command.push_back(word);
  for (const char* word : {"-u", "attach-session", "-t"}) command.push_back(word);
  command.push_back(absl::StrCat("=", tmux::SessionName(uid_)));
  return command;
}

absl::StatusOr<UniqueFd> TmuxSession::ExitFd() { return keeper_->ExitFd(); }

absl::Status TmuxSession::Rename(absl::string_view new_name) {
  ABSL_RETURN_IF_ERROR(keeper_->Rename(new_name));
  // For people's eyes only: nothing is addressed by it.
  server_
      ->Call(
          absl::StrCat("rename-window -t ", tmux::Target(uid_), " ", tmux::QuoteFormat(new_name)))
      .IgnoreError();
  return absl::OkStatus();
}

absl::Status TmuxSession::Destroy(absl::Duration grace) {
  // We take the window away ourselves if the server lets us; otherwise the keeper does.
  const absl::StatusOr<WindowState> window = tmux::AskWindow(*server_, uid_);
  UniqueFd pane;
  if (window.ok()) {
    if (window->there && !window->dead) pane = UniqueFd(launcher::PidfdOpen(window->pid));
    AskKeeper(launcher::kNothingAtEnd).IgnoreError();
  }
  ABSL_RETURN_IF_ERROR(keeper_->Destroy(grace));
  // Nothing of the session is left but its window. One on a server that hangs is taken away by
  // whoever connects to that next.
  if (window.ok() && tmux::RemoveWindow(*server_, uid_).ok() && pane.ok()) {
    WaitFd(pane.get(), POLLIN, absl::Now() + tmux::kAnswerTime, "wait for the window's program")
        .IgnoreError();
  }
  return absl::OkStatus();
}

}  // namespace berth
