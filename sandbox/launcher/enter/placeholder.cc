#include "sandbox/launcher/enter/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace berth::launcher {
namespace {

constexpr mode_t kFileMode = 0444, kDirectoryMode = 0555;

bool IsMarked(const struct stat& st) {
  const mode_t mode = st.st_mode & 07777;
  const bool shape = (S_ISREG(st.st_mode) && st.st_size == 0 && mode == kFileMode) ||
                     (S_ISDIR(st.st_mode) && mode == kDirectoryMode);
  return shape && st.st_mtim.tv_sec == 0 && st.st_mtim.tv_nsec == 0;
}

bool IsAt(int fd, int directory, const std::string& name) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && fstatat(directory, name.c_str(), &b, AT_SYMLINK_NOFOLLOW) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino && IsMarked(a);
}

// Marked before it has the mode of one: until then it is nobody's.
UniqueFd Create(int directory, const std::string& name, bool is_directory) {
  const timespec epoch[2] = {{0, 0}, {0, 0}};
  UniqueFd fd;
  if (is_directory) {
    if (mkdirat(directory, name.c_str(), 0700) != 0) return UniqueFd();
    fd = UniqueFd(openat(directory, name.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  } else {
    fd = UniqueFd(openat(directory, name.c_str(),
                         O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0400));
  }
  if (fd.ok() && (flock(fd.get(), LOCK_SH) != 0 || futimens(fd.get(), epoch) != 0 ||
                  fchmod(fd.get(), is_directory ? kDirectoryMode : kFileMode) != 0)) {
    fd.reset();
  }
  return fd;
}

}  // namespace

bool IsPlaceholder(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && IsMarked(st);
}

Placeholder MakePlaceholder(int directory, const std::string& name, bool is_directory) {
  Placeholder made;
  made.name = name;
  // Again if another sandbox removes it between the two: it does so once.
  for (int tries = 0; tries < 16; ++tries) {
    made.lock = Create(directory, name, is_directory);
    if (!made.lock.ok() && errno == EEXIST) {
      made.lock =
          UniqueFd(openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
      if (!made.lock.ok() && errno == ENOENT) continue;
      if (made.lock.ok() && !IsPlaceholder(made.lock.get())) {
        made.lock.reset();
        errno = EEXIST;
      }
      if (made.lock.ok() && flock(made.lock.get(), LOCK_SH) != 0) made.lock.reset();
    }
    if (!made.lock.ok()) return made;
    if (!IsAt(made.lock.get(), directory, name)) continue;
    made.directory = UniqueFd(fcntl(directory, F_DUPFD_CLOEXEC, 3));
    if (!made.directory.ok()) made.lock.reset();
    return made;
  }
  made.lock.reset();
  errno = EAGAIN;
  return made;
}

void RemovePlaceholder(const Placeholder& placeholder) {
  const int directory = placeholder.directory.get();
  if (flock(placeholder.lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (!IsAt(placeholder.lock.get(), directory, placeholder.name)) return;
  struct stat st;
  if (fstat(placeholder.lock.get(), &st) != 0) return;
  unlinkat(directory, placeholder.name.c_str(), S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

}  // namespace berth::launcher
