// A session that tmux shows: a native one, and its window.
#ifndef BERTH_RUNTIME_TMUX_TMUX_SESSION_H_
#define BERTH_RUNTIME_TMUX_TMUX_SESSION_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/tmux/tmux_server.h"
#include "runtime/tmux/window.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/wire.h"

namespace berth {

class TmuxSession final : public Session {
 public:
  TmuxSession(std::shared_ptr<const Store> store, std::shared_ptr<tmux::TmuxServer> server,
              std::unique_ptr<Session> keeper, const Record& record)
      : store_(std::move(store)),
        server_(std::move(server)),
        keeper_(std::move(keeper)),
        uid_(record.uid) {
    // Kept: asking it costs next to nothing, and a session is asked often.
    if (record.leader.pid != 0) leader_ = OpenProcess(record.leader);
  }

  // Of the session as such: its keeper knows.
  const std::string& handle() const override { return keeper_->handle(); }
  std::string name() const override { return keeper_->name(); }
  absl::StatusOr<Delivery> Send(const Message& message, absl::Time deadline) override {
    return keeper_->Send(message, deadline);
  }
  absl::Status SendKeys(const std::vector<std::string>& keys) override {
    return keeper_->SendKeys(keys);
  }
  absl::StatusOr<std::string> Capture(const CaptureOptions& options) override {
    return keeper_->Capture(options);
  }
  absl::StatusOr<Output> OpenOutput(const OutputOptions& options) override {
    return keeper_->OpenOutput(options);
  }
  absl::Status CloseStdin() override { return keeper_->CloseStdin(); }
  absl::StatusOr<UniqueFd> Attach() override { return keeper_->Attach(); }
  absl::Status SetLog(absl::string_view path, int64_t cap_bytes) override {
    return keeper_->SetLog(path, cap_bytes);
  }
  absl::Status SetEnvironment(absl::string_view key, absl::string_view value) override {
    return keeper_->SetEnvironment(key, value);
  }
  absl::StatusOr<std::unique_ptr<Process>> Exec(const ProcessSpec& spec) override {
    return keeper_->Exec(spec);
  }
  absl::StatusOr<Stats> GetStats() override { return keeper_->GetStats(); }
  absl::StatusOr<std::vector<Violation>> Violations() override { return keeper_->Violations(); }
  absl::StatusOr<std::unique_ptr<ViolationFeed>> WatchViolations(int64_t seen) override {
    return keeper_->WatchViolations(seen);
  }
  absl::StatusOr<std::vector<Change>> Changes() override { return keeper_->Changes(); }
  absl::Status KeepChanges(const std::vector<std::string>& paths) override {
    return keeper_->KeepChanges(paths);
  }
  absl::Status DiscardChanges() override { return keeper_->DiscardChanges(); }
  absl::Status Signal(int signal) override { return keeper_->Signal(signal); }
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override { return keeper_->Stop(grace); }
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override { return keeper_->Wait(deadline); }

  // Of its window too.
  absl::StatusOr<SessionInfo> Info() override;
  LivenessReport CheckLiveness() override;
  absl::Status Resize(TerminalSize size) override;
  std::vector<std::string> AttachCommand() const override;
  absl::StatusOr<UniqueFd> ExitFd() override;
  absl::Status Rename(absl::string_view new_name) override;
  absl::Status Destroy(absl::Duration grace) override;

 private:
  // The window. Brought back if the session runs and has lost it with a server; if somebody has
  // closed it, the session is stopped.
  absl::StatusOr<tmux::WindowState> Window();
  absl::Status ShowAgain(const tmux::WindowState& window);
  absl::StatusOr<launcher::Message> AskKeeper(uint16_t type) const;
  // The main process is proven to run.
  bool LeaderRuns() const;

  const std::shared_ptr<const Store> store_;
  const std::shared_ptr<tmux::TmuxServer> server_;
  const std::unique_ptr<Session> keeper_;
  const std::string uid_;
  absl::StatusOr<UniqueFd> leader_ = absl::NotFoundError("it has not started");
  // The keeper has said so. Until then the main process may be one that waits behind its gate, and
  // never gets further if the maker of the session is killed.
  std::atomic<bool> has_begun_ = false;
};

// Adds what its window tells, or that the server does not, to what its keeper told.
void AddWindow(const absl::StatusOr<tmux::WindowState>& window, SessionInfo* info);

}  // namespace berth

#endif  // BERTH_RUNTIME_TMUX_TMUX_SESSION_H_
