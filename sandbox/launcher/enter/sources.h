// Sources: what of the host a plan shows, as it is found at its paths.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_SOURCES_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_SOURCES_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

// Which file it is. As long as something holds it open, no other has the same.
struct SourceIdentity {
  uint64_t device = 0, inode = 0;  // both 0: there is none

  static SourceIdentity Of(int fd);
  friend bool operator==(const SourceIdentity&, const SourceIdentity&) = default;
};

// Opens `path`, a source of the plan's mount `index`, as O_PATH; not ok(): errno. The policy's own
// names may lead through symlinks of the host (/bin). Below something that the sandbox can write
// to, an earlier run may have made them: there none is followed.
UniqueFd OpenSource(const SandboxPlan& plan, size_t index, const std::string& path);

// Whether each bind of the plan would show now what it showed when `bound` was noted (one for each
// mount).
bool SourcesAreStill(const SandboxPlan& plan, const std::vector<SourceIdentity>& bound);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_SOURCES_H_
