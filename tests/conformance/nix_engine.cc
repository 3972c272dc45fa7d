#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/spec.h"
#include "tests/conformance/engine.h"
#include "tests/nix/nix_store.h"

namespace berth {
namespace {

class NixEngine final : public Engine {
 public:
  ~NixEngine() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::string backend() const override { return "nix"; }
  absl::Status Start() override {
    const char* tmp = getenv("TEST_TMPDIR");
    folder_ = std::string(tmp != nullptr ? tmp : "/tmp") + "/nixXXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) return absl::ErrnoToStatus(errno, "mkdtemp");
    store_ = std::make_unique<NixStore>(folder_);
    flake_ = store_->MakeFlake("flake", "{ OF_THE_FLAKE = \"yes\"; }");
    return absl::OkStatus();
  }
  void Complete(SessionSpec* spec) const override { spec->nix.flake = flake_; }
  int Rounds() const override { return 10; }

 private:
  std::string folder_, flake_;
  std::unique_ptr<NixStore> store_;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine() { return std::make_unique<NixEngine>(); }

}  // namespace berth
