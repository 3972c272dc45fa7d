// The presets. What is carved out of a workspace is what others run or obey later: hooks, start-up
// files, and the configuration of agents, their tool servers and editors.
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/policy.h"
#include "sandbox/policy_check.h"

namespace berth {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

// Documented in docs/sandbox.md. Where one of these does not exist, the host sees a placeholder in
// its stead: so only names that are worth it.
constexpr absl::string_view kCarves[] = {
    // Run by git, whoever calls it.
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",  // obeyed with extensions.worktreeConfig, as of a sparse checkout
    // Run by shells and direnv.
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".envrc",
    // Obeyed by agents, some with commands of their own.
    ".claude",
    "CLAUDE.md",
    ".codex",
    "AGENTS.md",
    ".gemini",
    "GEMINI.md",
    ".cursor",
    ".cursorrules",
    ".mcp.json",
    // Run by an editor when the folder is opened.
    ".vscode",
};

// The same, where they exist; they may be made where they do not.
constexpr absl::string_view kCarvesIfThere[] = {
    ".git/info/attributes",
    ".husky",
    ".bash_login",
    ".bash_logout",
    ".zlogin",
    ".zlogout",
    ".claude.json",
    ".windsurf",
    ".windsurfrules",
    ".clinerules",
    ".roo",
    ".aider.conf.yml",
    ".continue",
    ".github/copilot-instructions.md",
    ".idea",
    ".devcontainer",
};

Policy::Builder WithWorkspace(absl::string_view workspace) {
  Policy::Builder builder;
  builder.System().PrivateHome().Tmpfs("/tmp").Tmpfs("/var/tmp").Tmpfs("/run");
  builder.Hostname("berth");
  builder.ReadWrite(workspace);
  const absl::StatusOr<std::string> clean = CheckPolicyPath(workspace);
  if (!clean.ok()) return builder;  // which has kept that error
  for (const absl::string_view name : kCarves) builder.Carve(absl::StrCat(*clean, "/", name));
  for (const absl::string_view name : kCarvesIfThere) {
    builder.CarveIfThere(absl::StrCat(*clean, "/", name));
  }
  return builder;
}

}  // namespace

Policy::Builder Policy::Agent(absl::string_view workspace) {
  return WithWorkspace(workspace)
      .Memory(8 * kGiB)
      .Pids(2048)
      .OpenFiles(65536)
      .TmpSize(2 * kGiB)
      .FileSize(64 * kGiB);
}

Policy::Builder Policy::Build(absl::string_view workspace) {
  return WithWorkspace(workspace)
      .Debugging()
      .Memory(32 * kGiB)
      .Pids(16384)
      .OpenFiles(65536)
      .TmpSize(16 * kGiB)
      .FileSize(256 * kGiB);
}

Policy::Builder Policy::Strict() {
  Builder builder;
  builder.System().Tmpfs("/tmp").Hostname("berth").SocketFamilies({"unix"});
  builder.Memory(kGiB).Pids(128).OpenFiles(1024).TmpSize(64 * kMiB);
  builder.FileSize(kGiB);
  return builder;
}

absl::StatusOr<Policy::Builder> Policy::Preset(absl::string_view name,
                                               absl::string_view workspace) {
  if (name == "strict") {
    if (workspace.empty()) return Strict();
    return absl::InvalidArgumentError("preset 'strict': it has no workspace");
  }
  if (name != "agent" && name != "build") {
    return absl::InvalidArgumentError(
        absl::StrCat("preset ", Quoted(name), ": it is none of agent, build, strict"));
  }
  if (workspace.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("preset '", name, "': it needs a workspace"));
  }
  return name == "agent" ? Agent(workspace) : Build(workspace);
}

}  // namespace berth
