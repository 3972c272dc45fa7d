// FlakeFiles: what a flake's dev shell is made from, by content: flake.nix, flake.lock, and the
// files of its own tree that they name, so that a change of any is seen without asking nix.
#ifndef BERTH_RUNTIME_NIX_FLAKE_FILES_H_
#define BERTH_RUNTIME_NIX_FLAKE_FILES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace berth {

// Path below the flake's folder -> SHA-256 of the bytes; "-" for one that is named and not there.
//
// Files are found by the path literals in Nix code (./x.nix, ../x, ./dir), from flake.nix on; a
// folder stands for all that is in it, but for .git. NotFound if there is no flake.nix. OutOfRange
// past 10,000 files or 256 MiB: then nothing can be kept, and nix has to be asked each time.
absl::StatusOr<std::map<std::string, std::string>> HashFlakeFiles(const std::string& folder);

// In words: "flake.lock has changed", "nix/shell.nix is new". "" if the two are equal.
std::string DescribeChange(const std::map<std::string, std::string>& before,
                           const std::map<std::string, std::string>& now);

}  // namespace berth

#endif  // BERTH_RUNTIME_NIX_FLAKE_FILES_H_
