#include "tests/environment/engine_place.h"

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "runtime/spec.h"
#include "tests/docker/dockerd.h"
#include "tests/nix/nix_store.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<DockerEngine>& Docker() {
  static std::unique_ptr<DockerEngine> engine;  // ended at the end of the program
  return engine;
}

}  // namespace

absl::Status EnginePlace::StartEngine(const std::string& backend) {
  if (backend != "docker" || Docker() != nullptr) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(Docker(), DockerEngine::Start());
  return absl::OkStatus();
}

EnginePlace::EnginePlace(std::string backend, const std::string& folder)
    : backend_(std::move(backend)), project_(folder + "/project") {
  fs::create_directories(project_);
  if (backend_ == "nix") {
    fs::create_directories(folder + "/nix");
    nix_ = std::make_unique<NixStore>(folder + "/nix");
    flake_ = nix_->MakeFlake("flake", "{ V = \"nix\"; }");
  }
  if (backend_ == "docker") setenv("DOCKER_HOST", docker().address().c_str(), 1);
}

const DockerEngine& EnginePlace::docker() { return *Docker(); }

void EnginePlace::Complete(SessionSpec* spec) const {
  spec->backend = backend_;
  spec->cwd = project_;
  spec->nix.flake = flake_;
  if (backend_ != "docker") return;
  spec->container.image = DockerEngine::kImage;
  if (spec->container.network.empty()) spec->container.network = "none";
  spec->container.mounts.push_back({.source = project_, .target = project_});
}

}  // namespace berth
