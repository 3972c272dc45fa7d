// The nix backend: sessions in the dev shell of a flake, run by the native backend. The shell is
// evaluated once and kept (see dev_env_cache.h): later starts run no nix at all.
#ifndef BERTH_RUNTIME_NIX_NIX_BACKEND_H_
#define BERTH_RUNTIME_NIX_NIX_BACKEND_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/backend.h"
#include "runtime/nix/dev_env_cache.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth {

// What a session's record says of its dev shell: kept, or why nix was run.
inline constexpr char kNixLabel[] = "berth.nix";

class NixBackend final : public Backend {
 public:
  // `native` runs the sessions and must outlive this; `spawn` runs nix.
  NixBackend(std::shared_ptr<const Store> store, Backend* native, Spawner spawn)
      : native_(native), cache_(std::move(store), std::move(spawn)) {}

  absl::string_view name() const override { return "nix"; }
  // Whether there is a nix; does not run it.
  absl::Status Probe() override { return FindNix().status(); }
  absl::StatusOr<std::unique_ptr<Session>> Create(const SessionSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Session>> Open(const Record& record) override {
    return native_->Open(record);
  }
  std::vector<SessionInfo> Describe(const std::vector<Record>& records) override {
    return native_->Describe(records);
  }

 private:
  Backend* const native_;
  const DevEnvCache cache_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NIX_NIX_BACKEND_H_
