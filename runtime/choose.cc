#include "runtime/choose.h"

#include <unistd.h>

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/spec.h"

namespace berth {

absl::StatusOr<Choice> ChooseBackend(const SessionSpec& spec,
                                     absl::FunctionRef<absl::Status(absl::string_view)> probe) {
  if (!spec.backend.empty() && spec.backend != "auto") return Choice{spec.backend, "as asked"};
  if (!spec.container.image.empty()) {
    if (absl::Status docker = probe("docker"); !docker.ok()) {
      return absl::Status(docker.code(),
                          absl::StrCat("the image '", spec.container.image,
                                       "' needs the docker backend: ", docker.message()));
    }
    return Choice{"docker", "an image is given and the engine answers"};
  }
  const std::string folder = !spec.nix.flake.empty() ? spec.nix.flake
                             : !spec.cwd.empty()     ? spec.cwd
                                                     : ".";
  if (access(absl::StrCat(folder, "/flake.nix").c_str(), R_OK) == 0) {
    const absl::Status nix = probe("nix");
    if (nix.ok()) return Choice{"nix", absl::StrCat("there is a flake.nix in '", folder, "'")};
    if (!spec.nix.flake.empty()) return nix;
    return Choice{"native", absl::StrCat("there is a flake.nix, but ", nix.message())};
  }
  if (!spec.nix.flake.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no flake.nix in '", folder, "'"));
  }
  return Choice{"native", "neither an image nor a flake.nix is given"};
}

}  // namespace berth
