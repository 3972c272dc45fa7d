// DevEnvCache: dev shells as nix evaluated them, kept in the state directory until something that
// they were made from changes. One per flake folder and shell; a GC root beside it keeps its store
// paths.
//
//   <state>/nix/<id>/env       what is kept, whole or not at all, with a checksum
//   <state>/nix/<id>/root…     the GC root, made by nix
//
// Threads and processes: any, at once. An evaluation is done by one of them, the others wait.
#ifndef BERTH_RUNTIME_NIX_DEV_ENV_CACHE_H_
#define BERTH_RUNTIME_NIX_DEV_ENV_CACHE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/nix/dev_env.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/record/store.h"

namespace berth {

class DevEnvCache {
 public:
  DevEnvCache(std::shared_ptr<const Store> store, Spawner spawn)
      : store_(std::move(store)), spawn_(std::move(spawn)) {}

  struct Found {
    DevEnv env;
    bool kept = false;   // no nix was run
    std::string reason;  // why nix was run: "flake.lock has changed", "its GC root is gone", …
  };
  // The dev shell `shell` ("" is the default one) of the flake in `folder`, an absolute path.
  // NotFound: no flake.nix. FailedPrecondition: nix is missing, or fails, with what it said.
  absl::StatusOr<Found> Get(const std::string& folder, const std::string& shell) const;

 private:
  const std::shared_ptr<const Store> store_;
  const Spawner spawn_;
};

// What `nix develop` and `nix print-dev-env` call a shell of a flake.
std::string FlakeInstallable(const std::string& folder, const std::string& shell);

}  // namespace berth

#endif  // BERTH_RUNTIME_NIX_DEV_ENV_CACHE_H_
