// The nix command: where it is, which one it is, and running it.
#ifndef BERTH_RUNTIME_NIX_NIX_TOOL_H_
#define BERTH_RUNTIME_NIX_NIX_TOOL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/spec.h"

namespace berth {

// Whether there is a Nix for this system at all (Linux on x86-64 and aarch64).
bool IsNixSupported();
// Whether a nix is on PATH.
bool IsNixInstalled();
// What to do where there is none, for this distribution.
std::string NixInstallHint();

// The nix on PATH. FailedPrecondition with the hint if there is none.
absl::StatusOr<std::string> FindNix();
// Which one it is without running it: real path, size and time of the file. Another version is
// another file.
absl::StatusOr<std::string> NixIdentity(const std::string& nix);
// "x86_64-linux".
std::string NixSystem();
// $NIX_STORE_DIR, else /nix/store.
std::string NixStoreDir();

using Spawner = std::function<absl::StatusOr<std::unique_ptr<Process>>(const ProcessSpec&)>;

// Runs it with the caller's environment; returns what it printed. FailedPrecondition with the end
// of what it said if it fails; ResourceExhausted past 64 MiB of output.
absl::StatusOr<std::string> RunNix(const Spawner& spawn, std::vector<std::string> argv,
                                   absl::Time deadline);

}  // namespace berth

#endif  // BERTH_RUNTIME_NIX_NIX_TOOL_H_
