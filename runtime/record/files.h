// Small files in folders of ours, reached by dirfd, of which nothing is taken on trust: an entry
// may be a symlink, a fifo, a folder, another user's, or huge. Nothing here follows a symlink in
// the last component or blocks on what it opens. Internal to runtime/record. Thread-safe.
#ifndef BERTH_RUNTIME_RECORD_FILES_H_
#define BERTH_RUNTIME_RECORD_FILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// Opens the folder `name` in `dir_fd`. NotFound if there is none; FailedPrecondition if it is no
// folder (a symlink to one is none).
absl::StatusOr<UniqueFd> OpenFolder(int dir_fd, const std::string& name);

// Tells a file from others, and from what it was before it was changed or replaced; as far as the
// kernel's clock does: two changes within one tick of it (4 ms and more) may look the same.
struct FileVersion {
  uint64_t device = 0, inode = 0;
  int64_t size = 0, changed_ns = 0, modified_ns = 0;
  bool operator==(const FileVersion&) const = default;
};
// Of what `name`, a path, is now; symlinks in it are followed, but for the last part.
std::optional<FileVersion> VersionOf(int dir_fd, const std::string& name);

// The bytes of a regular file of this user. NotFound: none; FailedPrecondition: a symlink, fifo,
// folder…; PermissionDenied: another user's; OutOfRange: longer than `max_size`. `name` may be a
// path of two or more parts, none of them a symlink; Unimplemented where the kernel (before 5.6) or
// a seccomp filter has no openat2.
// `version`, if given, is which one it was.
absl::StatusOr<std::string> ReadSmallFile(int dir_fd, const std::string& name, size_t max_size,
                                          FileVersion* version = nullptr);

// What of a file outlasts a loss of power once it is written.
enum class Synced { kNothing, kFile, kFileAndFolder };

// Replaces or makes `name` so that a crash at any point leaves the old bytes or the new, whole:
// writes `temp_name`, syncs it, renames it, syncs the folder. With kNothing that holds for a crash
// of the process only. Mode 0600.
absl::Status WriteFileDurably(int dir_fd, const std::string& name, const std::string& temp_name,
                              absl::string_view bytes, Synced synced = Synced::kFileAndFolder);

absl::Status SyncFolder(int dir_fd, absl::string_view what);

// The names in a folder, without "." and "..", in no order.
absl::StatusOr<std::vector<std::string>> ListFolder(int dir_fd);

// Removes everything in the folder but what `keep` lists: files of any kind and folders of any
// depth, however hostile the program was that filled them. FailedPrecondition, naming it, at
// another file system: nothing of that is removed.
absl::Status EmptyFolder(int dir_fd, const std::vector<std::string>& keep = {});

// An exclusive lock between threads and processes, held over a few system calls, as the file `name`
// in a folder. Let go at destruction or by the death of the process.
class FolderLock {
 public:
  // Waits for whoever has it. NotFound if the folder was removed meanwhile.
  static absl::StatusOr<FolderLock> Take(int dir_fd, const char* name = ".lock");
  // Does not wait: Aborted if another has it.
  static absl::StatusOr<FolderLock> TryTake(int dir_fd, const char* name = ".lock");

  FolderLock(FolderLock&&) = default;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(UniqueFd fd) : fd_(std::move(fd)) {}
  static absl::StatusOr<FolderLock> Lock(int dir_fd, const char* name, int operation);

  UniqueFd fd_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_FILES_H_
