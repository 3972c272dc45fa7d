#include "runtime/tmux/tmux_backend.h"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/tmux/control_client.h"
#include "runtime/tmux/tmux_session.h"
#include "runtime/tmux/window.h"
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

}  // namespace

TmuxBackend::TmuxBackend(std::shared_ptr<const Store> store, NativeBackend* native)
    : store_(std::move(store)),
      native_(native),
      server_(std::make_shared<tmux::TmuxServer>(store_, [native] { return native->Launcher(); })) {
}

TmuxBackend::~TmuxBackend() {
  absl::MutexLock lock(mutex_);
  server_->Leave(ephemeral_);
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
    wanted.grace_ms = static_cast<uint32_t>(
        std::clamp<int64_t>(absl::ToInt64Milliseconds(spec.grace), 0, 1 << 30));
    // tmux makes the window, which runs nothing of the session's, while the record is written.
    const tmux::CommandLine line = MakeWindow(wanted);
    window = client->Begin(line.text, line.commands);
    made = *record;
    return absl::OkStatus();
  };
  guise.before_go = [&](const Record&) -> absl::Status {
    const absl::Status shown = client->Await(window, absl::Now() + tmux::kAnswerTime).status();
    return absl::IsAlreadyExists(shown) ? absl::OkStatus() : shown;
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

}  // namespace berth
