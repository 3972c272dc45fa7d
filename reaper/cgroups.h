// The groups of the cgroup v2 tree that berth made, found by their names. Sessions have
// "berth-<uid>"; what a launcher starts for its host is below "berth-<install id>-<pid>-<start
// time>-<pid namespace>", and the launcher holds a lock on that group for as long as it lives.
#ifndef BERTH_REAPER_CGROUPS_H_
#define BERTH_REAPER_CGROUPS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"

namespace berth::reaper {

struct FoundCgroup {
  std::string path;  // as /proc/PID/cgroup gives it
  std::string name;  // its last part
  uid_t owner = 0;
};

// Every group whose name begins with "berth-". Empty where there is no v2 tree.
std::vector<FoundCgroup> FindCgroups();

// The process in the name of a launcher's group; pid 0 if it is of another installation.
Identity LauncherOf(absl::string_view name, absl::string_view install_id,
                    const std::string& boot_id);

// Whether a launcher holds the group; false, too, if it is gone.
bool IsHeld(const FoundCgroup& group);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CGROUPS_H_
