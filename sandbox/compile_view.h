// A view as the two kinds of tiers enforce it: as mounts, and as Landlock rules.
#ifndef BERTH_SANDBOX_COMPILE_VIEW_H_
#define BERTH_SANDBOX_COMPILE_VIEW_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/view.h"

namespace berth {

// Parents before what is in them. `private_bytes`: of each private folder and of /dev/shm, 0 for
// the kernel's default. `changes_dir`: as in CompileOptions.
std::vector<launcher::SandboxMount> ToMounts(const View& view, uint64_t private_bytes,
                                             absl::string_view changes_dir);

// Of all of LANDLOCK_ACCESS_FS_*; the helper drops what the kernel does not know.
inline constexpr uint64_t kLandlockFs = 0xffff;
// LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and LANDLOCK_SCOPE_SIGNAL.
inline constexpr uint64_t kLandlockScope = 3;

// `tmp_dir`: writable, or "" for none.
std::vector<launcher::LandlockRule> ToLandlock(const View& view, absl::string_view tmp_dir);
// What git is to leave alone in a repository that is shown, as a list of patterns: placeholders.
// Else `git add -A` adds them. "" if there are none.
std::string ToGitExcludes(const View& view);

// Names that lead to what these rules are about.
std::vector<launcher::SandboxLink> ToLinks(const View& view);

}  // namespace berth

#endif  // BERTH_SANDBOX_COMPILE_VIEW_H_
