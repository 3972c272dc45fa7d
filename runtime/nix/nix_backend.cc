#include "runtime/nix/nix_backend.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/env.h"
#include "runtime/nix/dev_env_cache.h"
#include "runtime/nix/nix_tool.h"
#include "runtime/start_request.h"
#include "sandbox/policy.h"

namespace berth {
namespace {

// The store is what a dev shell consists of, and everyone may read it (nix-store(1)): so every
// policy shows it, unless it says itself how.
absl::StatusOr<Policy> ShowStore(const Policy& policy) {
  const std::string store = NixStoreDir();
  for (const Policy::Path& path : policy.paths()) {
    if (path.seen() == store || absl::StartsWith(store, absl::StrCat(path.seen(), "/"))) {
      return policy;
    }
  }
  return Policy::Builder(policy).ReadOnlyIfThere(store).Build();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NixBackend::Create(const SessionSpec& spec) {
  // What is wrong with the description is found before nix is asked for minutes.
  ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  ABSL_RETURN_IF_ERROR(ResolveEnv(spec.env).status());
  ABSL_ASSIGN_OR_RETURN(const std::string folder,
                        ResolveCwd(spec.nix.flake.empty() ? spec.cwd : spec.nix.flake));
  SessionSpec run = spec;
  std::vector<std::string> argv;
  if (spec.nix.wrapped) {
    ABSL_ASSIGN_OR_RETURN(const std::string nix, FindNix());
    argv = {nix,       "--extra-experimental-features",          "nix-command flakes",
            "develop", FlakeInstallable(folder, spec.nix.shell), "--command"};
    // Where nix's store and settings are is the caller's to say, not the session's environment.
    Env settings = Env::Clean();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(*entry, absl::MaxSplits('=', 1));
      if (absl::StartsWith(parts.first, "NIX_")) settings.Set(parts.first, parts.second);
    }
    run.env.Beneath(settings);
    run.labels[kNixLabel] = "wrapped";
  } else {
    ABSL_ASSIGN_OR_RETURN(const DevEnvCache::Found found, cache_.Get(folder, spec.nix.shell));
    run.env.Beneath(found.env.ToEnv());
    argv = found.env.HookCommand();
    run.labels[kNixLabel] = found.kept ? "kept" : absl::StrCat("evaluated: ", found.reason);
  }
  if (run.policy.has_value()) {
    ABSL_ASSIGN_OR_RETURN(run.policy, ShowStore(*run.policy));
  }
  argv.insert(argv.end(), spec.command.argv().begin(), spec.command.argv().end());
  run.command = Command::Argv(std::move(argv));
  run.backend = name();
  return native_->Create(run);
}

}  // namespace berth
