// The docker backend: containers of an engine, over its API. Nothing is asked of the engine, and
// its address is not looked up, before the first session needs it.
#ifndef BERTH_RUNTIME_DOCKER_DOCKER_BACKEND_H_
#define BERTH_RUNTIME_DOCKER_DOCKER_BACKEND_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/backend.h"
#include "runtime/docker/container_truth.h"
#include "runtime/docker/engine_client.h"
#include "runtime/native/native_backend.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth {

class DockerBackend final : public Backend {
 public:
  // `native` holds the streams of sessions, and must outlive this.
  DockerBackend(std::shared_ptr<const Store> store, NativeBackend* native)
      : store_(std::move(store)), native_(native) {}

  absl::string_view name() const override { return "docker"; }
  absl::Status Probe() override;
  absl::StatusOr<std::unique_ptr<Session>> Create(const SessionSpec& spec) override;
  absl::StatusOr<std::unique_ptr<Session>> Open(const Record& record) override;
  // Each engine is asked once for all of its containers.
  std::vector<SessionInfo> Describe(const std::vector<Record>& records) override;

 private:
  // Those of an engine's containers that have not ended, by id.
  using Listing = absl::flat_hash_map<std::string, ContainerTruth>;
  absl::StatusOr<Listing> List(const std::string& address);
  // Says of a session what its engine does. False if it is gone meanwhile.
  bool Correct(const Record& record,
               absl::flat_hash_map<std::string, absl::StatusOr<Listing>>* listings,
               SessionInfo* info);
  // Of an engine by its address; "" is the one that the environment names.
  absl::StatusOr<std::shared_ptr<EngineClient>> Client(const std::string& address);

  const std::shared_ptr<const Store> store_;
  NativeBackend* const native_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<EngineClient>> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_DOCKER_BACKEND_H_
