// The changes of copy-on-write folders: the upper layers of overlays, in a session's folder.
//
//   <session>/changes/0/started   when it began, by the clock of the file system
//   <session>/changes/0/upper     what differs; a deleted name is a device 0/0 (a whiteout), a
//                                 folder that replaces one has the attribute user.overlay.opaque
//   <session>/changes/0/work      the kernel's own
//
// What is in there was put there by a hostile program: every name is opened by its folder's
// descriptor without following links, nothing but files and folders is opened at all, and depth and
// number are bounded. Thread-safe.
#ifndef BERTH_RUNTIME_CHANGES_CHANGES_H_
#define BERTH_RUNTIME_CHANGES_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/change.h"

namespace berth {

// Before the start: empty layers for each of the `folders`.
absl::Status MakeChangeFolders(int session_fd, const std::vector<std::string>& folders);

// As Session::Changes, KeepChanges, DiscardChanges.
absl::StatusOr<std::vector<Change>> ListChanges(int session_fd,
                                                const std::vector<std::string>& folders);
absl::Status KeepChanges(int session_fd, const std::vector<std::string>& folders,
                         const std::vector<std::string>& paths);
absl::Status DiscardChanges(int session_fd, const std::vector<std::string>& folders);

}  // namespace berth

#endif  // BERTH_RUNTIME_CHANGES_CHANGES_H_
