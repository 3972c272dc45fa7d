// EnginePlace: what a session needs on each engine, for tests that run on all of them: a tmux, a
// Nix with a flake, a dockerd with an image and the test's folder in its containers.
//
//   EnginePlace::StartEngine("docker");              // before there is a Runtime
//   EnginePlace place("docker", folder);
//   place.Complete(&spec);
#ifndef BERTH_TESTS_ENVIRONMENT_ENGINE_PLACE_H_
#define BERTH_TESTS_ENVIRONMENT_ENGINE_PLACE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/spec.h"
#include "tests/docker/dockerd.h"
#include "tests/nix/nix_store.h"

namespace berth {

class EnginePlace {
 public:
  // Once for the whole test binary, before a Runtime is made: what holds the engine is forked, and
  // would inherit its descriptors. FailedPrecondition, with the reason, where it cannot run.
  static absl::Status StartEngine(const std::string& backend);
  static const DockerEngine& docker();

  // `folder` must exist; what is made goes into it. Sets this process's environment so that the
  // engine is found, nix as long as this object is there.
  EnginePlace(std::string backend, const std::string& folder);

  // Where sessions work: the same path inside and outside.
  const std::string& project() const { return project_; }
  // Backend, folder, flake (with V=nix in its shell), image, mount.
  void Complete(SessionSpec* spec) const;

 private:
  const std::string backend_, project_;
  std::string flake_;
  std::unique_ptr<NixStore> nix_;
};

}  // namespace berth

#endif  // BERTH_TESTS_ENVIRONMENT_ENGINE_PLACE_H_
