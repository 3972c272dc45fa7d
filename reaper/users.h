// Sweeping for others: root does what is to be done in a user's state directory as that user, in a
// process of its own that has given up root's rights, so that nothing that a user puts there can
// make root harm anyone.
#ifndef BERTH_REAPER_USERS_H_
#define BERTH_REAPER_USERS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace berth::reaper {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
};

// The users in a file like /etc/passwd whose home holds a state directory. Others (LDAP…) have to
// be named by their directories.
std::vector<User> UsersWithState(const std::string& passwd = "/etc/passwd");

// Whose a state directory is. NotFound if there is none; FailedPrecondition if it is a symlink.
absl::StatusOr<User> OwnerOfDir(const std::string& path);

// Runs `body` as that user, with that home and no other variable of berth's, in a forked process,
// and returns what it returns. For programs with one thread. DeadlineExceeded: it was killed.
absl::StatusOr<std::string> RunAs(const User& user, const std::function<std::string()>& body,
                                  absl::Time deadline);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_USERS_H_
