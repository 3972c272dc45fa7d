#include "runtime/tmux/tmux_backend.h"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/tmux/control_client.h"
#include "runtime/tmux/tmux_session.h"
#include "runtime/tmux/window.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pane_protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

// The keeper takes the window away when it ends and nobody else is there to do so.
absl::Status TellKeeper(int keeper, const tmux::TmuxServer& server, const std::string& uid) {
  launcher::Writer out;
  out.Put(server.client_cwd());
  out.PutList(tmux::RemoveWindowCommand(server, uid)).PutList(tmux::TmuxServer::Environment());
  ABSL_RETURN_IF_ERROR(KeeperChannel::Send(keeper, launcher::kAtEnd, out.body(), nullptr, 0));
  return KeeperChannel::Receive(keeper, absl::Now() + absl::Seconds(60)).status();
}

// Waits until the window shows the session: from then on it tells the keeper when it is closed. A
// window that is closed before that ends the start.
absl::Status AwaitView(int keeper, absl::string_view pane) {
  pid_t pid;
  if (!absl::SimpleAtoi(pane, &pid))
    return absl::InternalError(absl::StrCat("tmux calls the window's process '", pane, "'"));
  const UniqueFd ended(launcher::PidfdOpen(pid));
  ABSL_RETURN_IF_ERROR(KeeperChannel::Send(keeper, launcher::kAwaitView, "", nullptr, 0));
  const absl::Time deadline = absl::Now() + tmux::kAnswerTime;
  const absl::Status shown =
      ended.ok() ? WaitFdOrCancel(keeper, POLLIN, ended.get(), deadline, "wait for the window")
                 : absl::CancelledError("");
  if (absl::IsCancelled(shown)) {
    return absl::AbortedError(
        "the session's tmux window was closed, or could not run its program, while it was made");
  }
  ABSL_RETURN_IF_ERROR(shown);
  return KeeperChannel::Receive(keeper, deadline).status();
}

}  // namespace

TmuxBackend::TmuxBackend(std::shared_ptr<const Store> store, NativeBackend* native,
                         EngineWatch watch)
    : store_(std::move(store)),
      native_(native),
      server_(std::make_shared<tmux::TmuxServer>(
          store_, [native] { return native->Launcher(); }, std::move(watch))) {}

TmuxBackend::~TmuxBackend() {
  absl::MutexLock lock(mutex_);
  server_->Close(ephemeral_);
}

absl::StatusOr<std::unique_ptr<Session>> TmuxBackend::Create(const SessionSpec& spec) {
  if (!spec.pty) {
    return absl::UnimplementedError(
        "a tmux session is a terminal; for three pipes use the native backend");
  }
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<tmux::ControlClient> client,
                        server_->Connect(/*start=*/true));
  SessionSpec named = spec;
  named.backend = "tmux";
  Record made;
  tmux::ControlClient::Ticket window;
  int owner = -1;  // the connection to the keeper
  NativeBackend::Guise guise;
  guise.prepare = [&](int keeper, Record* record) -> absl::Status {
    record->tmux_socket = server_->socket_path();
    record->tmux_session = tmux::SessionName(record->uid);
    ABSL_RETURN_IF_ERROR(TellKeeper(keeper, *server_, record->uid));
    tmux::WindowSpec wanted;
    wanted.uid = record->uid;
    wanted.name = spec.name;
    wanted.run_path = store_->dir().run_path();
    wanted.helper_path = server_->helper_path();
    wanted.size = spec.size;
    wanted.history_lines = spec.scrollback_lines;
    // tmux makes the window, which runs nothing of the session's, while the record is written.
    const tmux::CommandLine line = MakeWindow(wanted);
    window = client->Begin(line.text, line.commands);
    made = *record;
    owner = keeper;
    return absl::OkStatus();
  };
  guise.before_go = [&](const Record&) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const std::string pane,
                          client->Await(window, absl::Now() + tmux::kAnswerTime));
    return AwaitView(owner, pane);
  };
  absl::StatusOr<std::unique_ptr<Session>> keeper = native_->CreateAs(guise, named);
  if (!keeper.ok()) {
    if (window != nullptr) tmux::RemoveWindow(*server_, made.uid).IgnoreError();
    return keeper.status();
  }
  if (!spec.durable) {
    absl::MutexLock lock(mutex_);
    ephemeral_.push_back(made.uid);
  }
  return std::make_unique<TmuxSession>(store_, server_, *std::move(keeper), made);
}

absl::StatusOr<std::unique_ptr<Session>> TmuxBackend::Open(const Record& record) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Session> keeper, native_->Open(record));
  return std::make_unique<TmuxSession>(store_, server_, std::move(keeper), record);
}

std::vector<SessionInfo> TmuxBackend::Describe(const std::vector<Record>& records) {
  // tmux answers while the keepers do.
  const absl::StatusOr<std::shared_ptr<tmux::ControlClient>> client = server_->Reach();
  tmux::ControlClient::Ticket ticket;
  if (client.ok()) ticket = (*client)->Begin(tmux::AskWindows().text);
  std::vector<SessionInfo> infos = native_->Describe(records);
  const absl::StatusOr<std::string> answer =
      client.ok() ? (*client)->Await(ticket, absl::Now() + tmux::kAnswerTime) : client.status();
  server_->Note(answer.status()).IgnoreError();
  const absl::flat_hash_map<std::string, tmux::WindowState> windows =
      tmux::ReadWindows(answer.value_or(""));
  for (SessionInfo& info : infos) {
    info.address = server_->socket_path();
    if (info.state == SessionState::kStarting) continue;
    const std::string uid = info.handle.substr(info.handle.find(':') + 1);
    const auto found = windows.find(uid);
    const bool shown = found != windows.end() && !found->second.dead;
    if (!answer.ok()) {
      AddWindow(answer.status(), &info);
    } else if (!shown && info.state == SessionState::kRunning) {
      ShowAgain(records, uid, &info);
    } else if (found != windows.end()) {
      AddWindow(found->second, &info);
    }
  }
  return infos;
}

void TmuxBackend::ShowAgain(const std::vector<Record>& records, const std::string& uid,
                            SessionInfo* info) {
  const auto record = std::find_if(records.begin(), records.end(),
                                   [&](const Record& each) { return each.uid == uid; });
  const absl::StatusOr<std::unique_ptr<Session>> session = Open(*record);
  absl::StatusOr<SessionInfo> now = session.ok() ? (*session)->Info() : session.status();
  if (now.ok()) *info = *std::move(now);
}

}  // namespace berth
