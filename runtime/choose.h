// Which backend runs a session whose description names none.
#ifndef BERTH_RUNTIME_CHOOSE_H_
#define BERTH_RUNTIME_CHOOSE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/spec.h"

namespace berth {

struct Choice {
  std::string backend;
  std::string reason;  // "an image is given and the engine answers"
};

// The one that was asked for; else docker if an image is given and the engine answers; else nix if
// there is a flake.nix and a nix; else native. An image that no engine can run is the engine's
// error, not a reason to run the command elsewhere: that would be weaker isolation than was asked
// for. `probe` says whether a backend can be used.
absl::StatusOr<Choice> ChooseBackend(const SessionSpec& spec,
                                     absl::FunctionRef<absl::Status(absl::string_view)> probe);

}  // namespace berth

#endif  // BERTH_RUNTIME_CHOOSE_H_
