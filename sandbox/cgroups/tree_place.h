// Where in the v2 tree a group can be made whose memory, processes and CPU can be limited.
// Used by the helper: no Abseil, no exceptions.
#ifndef BERTH_SANDBOX_CGROUPS_TREE_PLACE_H_
#define BERTH_SANDBOX_CGROUPS_TREE_PLACE_H_

#include <stdint.h>

#include <string>

#include "sandbox/cgroups/layout.h"

namespace berth::cgroups {

// A group with processes of its own gives no controllers to its children (the kernel's "no internal
// processes" rule; only the root may). So our own group, with the host in it, is seldom the place;
// the nearest group above it is that this user may make children in, as a user's service manager
// has been given (`systemd-run --user --scope`), or root has anyhow.
//
// Returns the group's path as /proc/PID/cgroup gives it, or "" if there is none where children have
// all of `controllers` (a set of Bit). Groups that give them already come first; one is told to
// only if none does, and with `probe` none is: that it would is enough. *why, if not null, gets the
// reason of the last refusal.
std::string PlaceFor(const Layout& layout, uint8_t controllers, bool probe, std::string* why);

// Lets the children of the group have those of `controllers` (a set of Bit). 0 or an errno.
int GiveControllers(int dir, uint8_t controllers);

}  // namespace berth::cgroups

#endif  // BERTH_SANDBOX_CGROUPS_TREE_PLACE_H_
