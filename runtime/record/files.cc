#include "runtime/record/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/remove_tree.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

absl::string_view KindName(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a folder";
    case S_IFLNK:
      return "a symlink";
    case S_IFIFO:
      return "a fifo";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

absl::Status WrongKind(const std::string& name, mode_t mode, absl::string_view wanted) {
  return absl::FailedPreconditionError(
      absl::StrCat("'", name, "' is ", KindName(mode), ", not ", wanted));
}

// What stands in the way of an open with O_NOFOLLOW, in words where it is the kind of the entry.
absl::Status OpenError(int error, int dir_fd, const std::string& name, absl::string_view wanted) {
  struct stat entry;
  if ((error == ELOOP || error == ENOTDIR || error == ENXIO || error == EISDIR) &&
      fstatat(dir_fd, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0) {
    return WrongKind(name, entry.st_mode, wanted);
  }
  return ErrnoStatus(error, absl::StrCat("open '", name, "'"));
}

absl::Status WriteAll(int fd, absl::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoStatus(errno, absl::StrCat("write '", name, "'"));
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

FileVersion VersionOf(const struct stat& file) {
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
  };
  return {file.st_dev, file.st_ino, file.st_size, nanoseconds(file.st_ctim),
          nanoseconds(file.st_mtim)};
}

}  // namespace

std::optional<FileVersion> VersionOf(int dir_fd, const std::string& name) {
  struct stat file;
  if (fstatat(dir_fd, name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return VersionOf(file);
}

absl::StatusOr<UniqueFd> OpenFolder(int dir_fd, const std::string& name) {
  UniqueFd fd(openat(dir_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.ok()) return OpenError(errno, dir_fd, name, "a folder");
  return fd;
}

absl::StatusOr<std::string> ReadSmallFile(int dir_fd, const std::string& name, size_t max_size,
                                          FileVersion* version) {
  // O_NONBLOCK: a fifo without a writer must not hold us up before fstat has told that it is one.
  struct open_how how = {};
  how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  UniqueFd fd(name.find('/') == std::string::npos
                  ? openat(dir_fd, name.c_str(), static_cast<int>(how.flags))
                  : static_cast<int>(syscall(SYS_openat2, dir_fd, name.c_str(), &how, sizeof how)));
  if (!fd.ok()) return OpenError(errno, dir_fd, name, "a file");
  struct stat file;
  if (fstat(fd.get(), &file) != 0) return ErrnoStatus(errno, absl::StrCat("stat '", name, "'"));
  if (!S_ISREG(file.st_mode)) return WrongKind(name, file.st_mode, "a file");
  if (file.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("'", name, "' belongs to uid ", file.st_uid, ", not to uid ", geteuid()));
  }
  if (version != nullptr) *version = VersionOf(file);
  const auto too_long = [&] {
    return absl::OutOfRangeError(absl::StrCat("'", name, "' is longer than ", max_size, " bytes"));
  };
  if (file.st_size > static_cast<off_t>(max_size)) return too_long();
  // One byte more than there should be: a read that comes short of it has seen the end, and one
  // that does not is of a file that grew since.
  std::string bytes(std::min<size_t>(max_size, static_cast<size_t>(file.st_size)) + 1, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, absl::StrCat("read '", name, "'"));
    const bool at_end = static_cast<size_t>(got) < bytes.size() - have;
    have += static_cast<size_t>(got);
    if (at_end) break;
    if (have > max_size) return too_long();
    bytes.resize(max_size + 1);
  }
  bytes.resize(have);
  return bytes;
}

absl::Status WriteFileDurably(int dir_fd, const std::string& name, const std::string& temp_name,
                              absl::string_view bytes, Synced synced) {
  // What a crash left under the temporary name is not written into: someone may have linked it
  // elsewhere.
  if (unlinkat(dir_fd, temp_name.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("remove '", temp_name, "'"));
  }
  UniqueFd fd(openat(dir_fd, temp_name.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("make '", temp_name, "'"));
  absl::Status status = WriteAll(fd.get(), bytes, temp_name);
  if (status.ok() && synced != Synced::kNothing && fsync(fd.get()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("sync '", temp_name, "'"));
  }
  if (status.ok() && renameat(dir_fd, temp_name.c_str(), dir_fd, name.c_str()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("rename '", temp_name, "' to '", name, "'"));
  }
  if (!status.ok()) {
    unlinkat(dir_fd, temp_name.c_str(), 0);
    return status;
  }
  return synced == Synced::kFileAndFolder
             ? SyncFolder(dir_fd, absl::StrCat("sync the folder of '", name, "'"))
             : absl::OkStatus();
}

absl::Status SyncFolder(int dir_fd, absl::string_view what) {
  // EINVAL: a file system on which a folder cannot be synced, and does not need to be.
  if (fsync(dir_fd) != 0 && errno != EINVAL) return ErrnoStatus(errno, what);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListFolder(int dir_fd) {
  // A description of its own: the reading position of `dir_fd` may be shared with other threads.
  UniqueFd fd(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, "open folder");
  DIR* dir = fdopendir(fd.get());
  if (dir == nullptr) return ErrnoStatus(errno, "list folder");
  fd.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(dir)) {
    const absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error = errno;
  closedir(dir);
  if (error != 0) return ErrnoStatus(error, "list folder");
  return names;
}

absl::Status EmptyFolder(int dir_fd, const std::vector<std::string>& keep) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(dir_fd));
  for (const std::string& name : names) {
    if (std::find(keep.begin(), keep.end(), name) != keep.end()) continue;
    const int error = RemoveTree(dir_fd, name.c_str());
    if (error == EXDEV) {
      return absl::FailedPreconditionError(absl::StrCat(
          "remove '", name, "': another file system is mounted there: unmount it first"));
    }
    if (error != 0) return ErrnoStatus(error, absl::StrCat("remove '", name, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<FolderLock> FolderLock::Take(int dir_fd, const char* name) {
  return Lock(dir_fd, name, LOCK_EX);
}

absl::StatusOr<FolderLock> FolderLock::TryTake(int dir_fd, const char* name) {
  return Lock(dir_fd, name, LOCK_EX | LOCK_NB);
}

absl::StatusOr<FolderLock> FolderLock::Lock(int dir_fd, const char* name, int operation) {
  // A file, not the folder itself: NFS grants exclusive locks on writable descriptors only.
  UniqueFd fd(openat(dir_fd, name,
                     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!fd.ok()) return OpenError(errno, dir_fd, name, "a file");
  while (flock(fd.get(), operation) != 0) {
    if (errno == EWOULDBLOCK) {
      return absl::AbortedError(absl::StrCat("lock '", name, "': another has it"));
    }
    if (errno != EINTR) return ErrnoStatus(errno, absl::StrCat("lock '", name, "'"));
  }
  struct stat file;
  if (fstat(fd.get(), &file) != 0) return ErrnoStatus(errno, absl::StrCat("stat '", name, "'"));
  if (!S_ISREG(file.st_mode)) return WrongKind(name, file.st_mode, "a file");
  if (file.st_nlink == 0) {
    return absl::NotFoundError(absl::StrCat("lock '", name, "': it was removed meanwhile"));
  }
  return FolderLock(std::move(fd));
}

FolderLock::~FolderLock() {
  // By hand, since a child that the host forked meanwhile shares the lock until it closes its copy.
  if (fd_.ok()) flock(fd_.get(), LOCK_UN);
}

}  // namespace berth
