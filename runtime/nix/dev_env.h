// DevEnv: what a Nix dev shell gives to a program, out of `nix print-dev-env --json`, so that later
// starts need no nix. Plain data; thread-safe.
#ifndef BERTH_RUNTIME_NIX_DEV_ENV_H_
#define BERTH_RUNTIME_NIX_DEV_ENV_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/env.h"

namespace berth {

struct DevEnv {
  // Exported variables, without those of the builder alone.
  std::map<std::string, std::string> variables;
  // A script for bash that sets what is not exported (scalars, arrays, functions), runs the shell
  // hook, then executes its arguments. "" if there is no hook: then nothing needs a shell.
  std::string hook;

  // As `nix develop` has it: over what is inherited, with PATH and XDG_DATA_DIRS before the
  // inherited ones; HOME, TERM, TMPDIR and the like are the inherited ones.
  Env ToEnv() const;

  // What stands before a command so that the hook runs first; nothing if there is no hook. In as
  // many words as it takes: the kernel lets none have more than 128 KiB.
  std::vector<std::string> HookCommand() const;

  bool operator==(const DevEnv&) const = default;
};

// InvalidArgument, saying what is wrong, for anything that is not what nix prints.
absl::StatusOr<DevEnv> ParseDevEnv(absl::string_view json);

}  // namespace berth

#endif  // BERTH_RUNTIME_NIX_DEV_ENV_H_
