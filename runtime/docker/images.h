// Images of an engine: there or not, pulled with progress, loaded, imported.
//
//   Images images(&client);
//   const auto show = [](const PullProgress& progress) { …; return true; };
//   ABSL_ASSIGN_OR_RETURN(std::string id, images.Pull("alpine:3", show));
//
// Threads: any, at once.
#ifndef BERTH_RUNTIME_DOCKER_IMAGES_H_
#define BERTH_RUNTIME_DOCKER_IMAGES_H_

#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/docker/engine_client.h"

namespace berth {

struct Image {
  std::string id = {};                // "sha256:…"
  std::string architecture = {};      // "amd64"
  std::vector<std::string> env = {};  // KEY=value
};

struct PullProgress {
  std::string layer = {};  // "" for a line about the whole image
  std::string status = {};
  int64_t done = 0, total = 0;  // bytes of this layer; total 0: not known
  int layers = 0, layers_done = 0;
  int percent = 0;  // of all bytes known so far
};
// Returns false to give up.
using OnPull = std::function<bool(const PullProgress&)>;

class Images {
 public:
  explicit Images(EngineClient* client) : client_(client) {}

  // NotFound if the engine does not have it.
  absl::StatusOr<Image> Inspect(const std::string& name) const;
  absl::StatusOr<bool> Exists(const std::string& name) const;
  absl::StatusOr<Image> Pull(const std::string& name, const OnPull& progress,
                             absl::Duration limit = absl::Minutes(30)) const;
  // An archive as `docker save` writes it.
  absl::Status Load(absl::string_view tar) const;
  // A root file system as a tar, as repository:tag. `changes` are lines as of a Dockerfile ("ENV
  // A=b").
  absl::StatusOr<Image> Import(absl::string_view tar, const std::string& name,
                               const std::vector<std::string>& changes = {}) const;

 private:
  EngineClient* const client_;
};

// InvalidArgument for what cannot be the name or id of an image.
absl::Status CheckImageName(absl::string_view name);

// %XX for what has a meaning in a URL.
std::string EscapeUrl(absl::string_view text);

}  // namespace berth

#endif  // BERTH_RUNTIME_DOCKER_IMAGES_H_
