// A session behind a keeper.
#ifndef BERTH_RUNTIME_NATIVE_NATIVE_SESSION_H_
#define BERTH_RUNTIME_NATIVE_NATIVE_SESSION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/native/idle_connections.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/native/native_violations.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class NativeSession final : public Session {
 public:
  // `idle` are the connections of all sessions of one Runtime.
  NativeSession(std::shared_ptr<const Store> store, std::shared_ptr<IdleConnections> idle,
                Record record);

  const std::string& handle() const override { return handle_; }
  std::string name() const override;
  absl::StatusOr<SessionInfo> Info() override;
  LivenessReport CheckLiveness() override;
  absl::StatusOr<Delivery> Send(const Message& message, absl::Time deadline) override;
  absl::Status SendKeys(const std::vector<std::string>& keys) override;
  absl::StatusOr<std::string> Capture(const CaptureOptions& options) override;
  absl::StatusOr<Output> OpenOutput(const OutputOptions& options) override;
  absl::Status CloseStdin() override;
  absl::Status Resize(TerminalSize size) override;
  absl::StatusOr<UniqueFd> Attach() override;
  std::vector<std::string> AttachCommand() const override;
  absl::Status SetLog(absl::string_view path, int64_t cap_bytes) override;
  absl::Status SetEnvironment(absl::string_view key, absl::string_view value) override;
  absl::StatusOr<std::unique_ptr<Process>> Exec(const ProcessSpec& spec) override;
  absl::StatusOr<Stats> GetStats() override;
  absl::StatusOr<std::vector<Violation>> Violations() override;
  absl::StatusOr<std::unique_ptr<ViolationFeed>> WatchViolations(int64_t seen) override;
  absl::StatusOr<std::vector<Change>> Changes() override;
  absl::Status KeepChanges(const std::vector<std::string>& paths) override;
  absl::Status DiscardChanges() override;
  absl::Status Signal(int signal) override;
  absl::StatusOr<ExitStatus> Stop(absl::Duration grace) override;
  absl::StatusOr<ExitStatus> Wait(absl::Time deadline) override;
  absl::StatusOr<UniqueFd> ExitFd() override;
  absl::Status Rename(absl::string_view new_name) override;
  absl::Status Destroy(absl::Duration grace) override;

 private:
  absl::StatusOr<SessionInfo> AskInfo(absl::Time deadline) const;
  absl::StatusOr<launcher::Message> Call(uint16_t type, absl::string_view body, int fd = -1,
                                         absl::Duration limit = absl::Seconds(20)) const;
  // How it ended, for a session whose keeper is gone. NotFound if the session is gone too.
  absl::StatusOr<ExitStatus> EndWithoutKeeper() const;
  // The error of a call; NotFound if the session was destroyed under it, which is why the keeper
  // went away.
  absl::Status OrGone(absl::Status status) const;
  // Nothing of it runs any more.
  absl::Status CheckSettled();
  // A connection on which the end will be told.
  absl::StatusOr<UniqueFd> AskForEnd(absl::Time deadline) const;

  const std::shared_ptr<const Store> store_;
  const std::string handle_;
  const KeeperChannel channel_;
  mutable absl::Mutex mutex_;
  Record record_ ABSL_GUARDED_BY(mutex_);
  const std::string uid_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_NATIVE_SESSION_H_
