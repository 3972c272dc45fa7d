// The user namespace's view of who one is: the same user and group inside as outside, nobody else.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_ID_MAP_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_ID_MAP_H_

#include <sys/types.h>

namespace berth::launcher {

// Called by the first process of a new user namespace, with the ids that it had before. 0 or an
// errno. After it no group can be set inside: one that takes rights away would otherwise be
// something to get rid of (CVE-2014-8989).
int MapIds(uid_t uid, gid_t gid);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_ID_MAP_H_
