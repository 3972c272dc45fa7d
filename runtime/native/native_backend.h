// The native backend: launcher and keepers. Needs nothing installed.
#ifndef BERTH_RUNTIME_NATIVE_NATIVE_BACKEND_H_
#define BERTH_RUNTIME_NATIVE_NATIVE_BACKEND_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/backend.h"
#include "runtime/native/idle_connections.h"
#include "runtime/native/native_policy.h"
#include "runtime/native/native_process.h"
#include "runtime/native/status_views.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/keeper_spec.h"

namespace berth {

class NativeBackend final : public Backend {
 public:
  // `owner_id` is the lease of the Runtime that this belongs to.
  NativeBackend(std::shared_ptr<const Store> store, std::string owner_id)
      : store_(std::move(store)),
        owner_id_(std::move(owner_id)),
        policies_({store_->dir().path(), store_->dir().run_path()}) {}
  // Ends the ephemeral sessions, and returns once they are gone.
  ~NativeBackend() override;

  absl::string_view name() const override { return "native"; }
  absl::Status Probe() override { return Launcher().status(); }
  absl::StatusOr<std::unique_ptr<Session>> Create(const SessionSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Session>> Open(const Record& record) override;
  std::vector<SessionInfo> Describe(const std::vector<Record>& records) override;
  absl::StatusOr<std::unique_ptr<Process>> Spawn(const ProcessSpec& spec);

  // Started when it is first needed: a program that only looks at sessions has none.
  absl::StatusOr<std::shared_ptr<launcher::LauncherClient>> Launcher();

  // For a backend that shows native sessions in a way of its own.
  struct Guise {
    // The record is reserved and nothing runs: completes both, where what is to run depends on the
    // session's id.
    std::function<absl::Status(Record*, SessionSpec*)> reserved = nullptr;
    // The keeper stands, its program waits. Fills in what the record is to say besides.
    std::function<absl::Status(int keeper, Record*)> prepare = nullptr;
    // The record is durable, the program is about to run.
    std::function<absl::Status(const Record&)> before_go = nullptr;
  };
  // As Create; what `guise` did is its own to undo if this fails.
  absl::StatusOr<std::unique_ptr<Session>> CreateAs(const Guise& guise, const SessionSpec& spec);

 private:
  absl::StatusOr<launcher::Spawned> StartProgram(
      const ProcessSpec& spec, const ProcessStreams& streams, bool hopes,
      std::shared_ptr<launcher::LauncherClient>* launcher);
  // Makes `keeper` start under the session's policy, if it has one.
  absl::Status ApplyPolicy(const SessionSpec& spec, Record* record, launcher::KeeperSpec* keeper);
  absl::Status Start(const Guise& guise, const SessionSpec& spec, Record* record, UniqueFd* owner);

  const std::shared_ptr<const Store> store_;
  const std::string owner_id_;
  const std::shared_ptr<IdleConnections> idle_ = std::make_shared<IdleConnections>();
  NativePolicies policies_;
  StatusViews views_;
  absl::Mutex mutex_;
  std::shared_ptr<launcher::LauncherClient> launcher_ ABSL_GUARDED_BY(mutex_);
  // Connections to the keepers of ephemeral sessions, which live as long as these are open.
  std::vector<UniqueFd> ephemeral_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_NATIVE_BACKEND_H_
