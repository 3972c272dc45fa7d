#include "runtime/changes/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/base/errno_status.h"

namespace berth {
namespace {

constexpr mode_t kModes = 0777;  // no set-user-id: nothing of a sandbox becomes one

// Opens the entry if it is of that type, with `needed` added to its mode if its owner lacks it.
// `st` tells how it was before.
absl::StatusOr<UniqueFd> OpenOnly(int dir_fd, const std::string& name, mode_t type, int flags,
                                  mode_t needed, struct stat* st) {
  const std::string what = absl::StrCat("open '", name, "'");
  const UniqueFd place(openat(dir_fd, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place.ok() || fstat(place.get(), st) != 0) return ErrnoStatus(errno, what);
  if ((st->st_mode & S_IFMT) != type) {
    return absl::FailedPreconditionError(absl::StrCat(what, ": it is something else now"));
  }
  // fchmod takes no O_PATH descriptor.
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", place.get());
  if ((st->st_mode & needed) != needed && geteuid() != 0) {
    chmod(path, (st->st_mode & 07777) | needed);
  }
  UniqueFd fd(open(path, flags | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, what);
  return fd;
}

// Where data begins at or after `at`: holes are passed over, since a file of exabytes costs nothing
// to make. `size` where there is none.
off_t NextData(int fd, off_t at, off_t size) {
  const off_t data = lseek(fd, at, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? size : at;
  return std::min(data, size);
}

bool SameBytes(int a, int b, off_t size) {
  std::string left(1 << 16, '\0'), right(1 << 16, '\0');
  for (off_t at = 0; at < size;) {
    at = std::min(NextData(a, at, size), NextData(b, at, size));
    if (at >= size) break;
    const ssize_t n = pread(a, left.data(), left.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || pread(b, right.data(), static_cast<size_t>(n), at) != n) return false;
    if (memcmp(left.data(), right.data(), static_cast<size_t>(n)) != 0) return false;
    at += n;
  }
  return true;
}

}  // namespace

HeldFolder::~HeldFolder() {
  if (fd_.ok() && mode_ != kAsItIs) fchmod(fd_.get(), mode_);
}

absl::StatusOr<HeldFolder> HeldFolder::Open(int dir_fd, const std::string& name) {
  constexpr mode_t kNeeded = S_IRUSR | S_IXUSR;
  struct stat st;
  absl::StatusOr<UniqueFd> fd =
      OpenOnly(dir_fd, name, S_IFDIR, O_RDONLY | O_DIRECTORY, kNeeded, &st);
  if (!fd.ok()) return fd.status();
  HeldFolder folder(*std::move(fd));
  if ((st.st_mode & kNeeded) != kNeeded) folder.mode_ = st.st_mode & 07777;
  return folder;
}

absl::StatusOr<UniqueFd> OpenFileToRead(int dir_fd, const std::string& name) {
  struct stat st;
  absl::StatusOr<UniqueFd> fd =
      OpenOnly(dir_fd, name, S_IFREG, O_RDONLY | O_NONBLOCK | O_NOCTTY, S_IRUSR, &st);
  if (fd.ok() && (st.st_mode & S_IRUSR) == 0) fchmod(fd->get(), st.st_mode & 07777);
  return fd;
}

absl::StatusOr<std::string> ReadLinkText(int dir_fd, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t n = readlinkat(dir_fd, name.c_str(), text, sizeof(text));
  if (n < 0) return ErrnoStatus(errno, absl::StrCat("read link '", name, "'"));
  if (static_cast<size_t>(n) == sizeof(text)) {
    return absl::OutOfRangeError(absl::StrCat("link '", name, "' is too long"));
  }
  return std::string(text, static_cast<size_t>(n));
}

bool SameEntry(int a, const struct stat& a_stat, int b, const struct stat& b_stat,
               const std::string& name) {
  if (S_ISLNK(a_stat.st_mode)) {
    const absl::StatusOr<std::string> left = ReadLinkText(a, name), right = ReadLinkText(b, name);
    return left.ok() && right.ok() && *left == *right;
  }
  if ((a_stat.st_mode & kModes) != (b_stat.st_mode & kModes)) return false;
  if (S_ISDIR(a_stat.st_mode)) return true;
  if (!S_ISREG(a_stat.st_mode) || a_stat.st_size != b_stat.st_size) return false;
  const absl::StatusOr<UniqueFd> left = OpenFileToRead(a, name), right = OpenFileToRead(b, name);
  return left.ok() && right.ok() && SameBytes(left->get(), right->get(), a_stat.st_size);
}

absl::Status CopyBytes(int from, int to, off_t size) {
  bool clones = true;
  for (off_t at = 0; at < size;) {
    at = NextData(from, at, size);
    if (at >= size) break;
    const off_t hole = lseek(from, at, SEEK_HOLE);
    const auto rest = static_cast<size_t>((hole > at ? std::min(hole, size) : size) - at);
    off_t in = at, out = at;
    ssize_t n;
    if (clones) {
      n = copy_file_range(from, &in, to, &out, rest, 0);
    } else {
      n = lseek(to, at, SEEK_SET) < 0 ? -1
                                      : sendfile(to, from, &in, std::min<size_t>(rest, 1 << 24));
    }
    if (n < 0 && errno == EINTR) continue;
    // Between file systems, or on one that cannot.
    if (n < 0 && clones &&
        (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS)) {
      clones = false;
      continue;
    }
    if (n < 0) return ErrnoStatus(errno, "copy a file");
    if (n == 0) return absl::FailedPreconditionError("copy a file: it became shorter meanwhile");
    at += n;
  }
  return ftruncate(to, size) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "copy a file");
}

}  // namespace berth
