// The tmux backend: sessions that a person finds in tmux.
//
// Two things make a session here. Its keeper, the same as a native session's, holds the program,
// its terminal, its log and its limits; a tmux window shows that terminal to whoever attaches. So
// everything that holds for a native session holds here (records, the sandbox, the end of the whole
// tree, messages that are acknowledged and never lost), and a tmux server that hangs or dies takes
// no session with it: it is shown again when there is a server.
#ifndef BERTH_RUNTIME_TMUX_TMUX_BACKEND_H_
#define BERTH_RUNTIME_TMUX_TMUX_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/backend.h"
#include "runtime/native/native_backend.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/tmux/tmux_server.h"

namespace berth {

class TmuxBackend final : public Backend {
 public:
  // `native` makes the keepers. It must be there for every call, and is to be destroyed first.
  TmuxBackend(std::shared_ptr<const Store> store, NativeBackend* native, EngineWatch watch = {});

  // To be called after `native` has ended the ephemeral sessions, whose windows go now.
  ~TmuxBackend() override;

  absl::string_view name() const override { return "tmux"; }
  absl::Status Probe() override { return server_->Connect(/*start=*/true).status(); }
  absl::StatusOr<std::unique_ptr<Session>> Create(const SessionSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Session>> Open(const Record& record) override;
  std::vector<SessionInfo> Describe(const std::vector<Record>& records) override;
  void CheckEngine() override { server_->Ask("display-message -p there").IgnoreError(); }

 private:
  // The window of one that runs is gone: makes another, and tells what is true then.
  void ShowAgain(const std::vector<Record>& records, const std::string& uid, SessionInfo* info);

  const std::shared_ptr<const Store> store_;
  NativeBackend* const native_;
  const std::shared_ptr<tmux::TmuxServer> server_;
  absl::Mutex mutex_;
  std::vector<std::string> ephemeral_ ABSL_GUARDED_BY(mutex_);  // uids
};

}  // namespace berth

#endif  // BERTH_RUNTIME_TMUX_TMUX_BACKEND_H_
