#include <stdlib.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "runtime/spec.h"
#include "tests/conformance/engine.h"
#include "tests/docker/dockerd.h"

namespace berth {
namespace {

class DockerConformance final : public Engine {
 public:
  std::string backend() const override { return "docker"; }
  absl::Status Start() override {
    ABSL_ASSIGN_OR_RETURN(engine_, DockerEngine::Start());
    setenv("DOCKER_HOST", engine_->address().c_str(), 1);
    return absl::OkStatus();
  }
  void Complete(SessionSpec* spec) const override {
    spec->container.image = DockerEngine::kImage;
    if (spec->container.network.empty()) spec->container.network = "none";
  }
  int Rounds() const override { return 8; }

 private:
  std::unique_ptr<DockerEngine> engine_;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine() { return std::make_unique<DockerConformance>(); }

}  // namespace berth
