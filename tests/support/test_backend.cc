#include "tests/support/test_backend.h"

#include <stdlib.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"

namespace berth {
namespace {

class RuntimeOn final : public Runtime {
 public:
  RuntimeOn(std::unique_ptr<Runtime> runtime, std::string backend)
      : runtime_(std::move(runtime)), backend_(std::move(backend)) {}

  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const SessionSpec& spec) override {
    return runtime_->CreateSession(On(spec));
  }
  absl::StatusOr<Choice> Choose(const SessionSpec& spec) override {
    return runtime_->Choose(On(spec));
  }
  absl::StatusOr<std::unique_ptr<Session>> Open(absl::string_view handle) override {
    return runtime_->Open(handle);
  }
  absl::StatusOr<std::unique_ptr<Session>> Find(absl::string_view name) override {
    return runtime_->Find(name);
  }
  absl::StatusOr<std::vector<SessionInfo>> List() override { return runtime_->List(); }
  absl::StatusOr<std::unique_ptr<Process>> Spawn(const ProcessSpec& spec) override {
    return runtime_->Spawn(spec);
  }
  int event_fd() const override { return runtime_->event_fd(); }
  absl::StatusOr<std::optional<Event>> NextEvent() override { return runtime_->NextEvent(); }

 private:
  SessionSpec On(SessionSpec spec) const {
    if (spec.backend.empty()) spec.backend = backend_;
    return spec;
  }

  const std::unique_ptr<Runtime> runtime_;
  const std::string backend_;
};

}  // namespace

std::string TestBackend() {
  const char* const backend = getenv("BERTH_TEST_BACKEND");
  return backend != nullptr ? backend : "native";
}

bool HasPipes() { return TestBackend() != "tmux"; }

absl::StatusOr<std::unique_ptr<Runtime>> CreateTestRuntime(const std::string& state_dir) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> runtime,
                        Runtime::Create({.state_dir = state_dir}));
  if (getenv("BERTH_TEST_BACKEND") == nullptr) return runtime;
  return std::make_unique<RuntimeOn>(std::move(runtime), TestBackend());
}

}  // namespace berth
