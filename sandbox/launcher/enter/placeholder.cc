#include "sandbox/launcher/enter/placeholder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth::launcher {
namespace {

constexpr mode_t kFileMode = 0444, kDirectoryMode = 0555;
// Between its birth and its mark. Nobody gives a file such a mode, so who meets it takes it for a
// placeholder and not for a file of the user's, which would be left without a lock.
constexpr mode_t kUnmarkedFile = 0404, kUnmarkedDirectory = 0505;

bool IsUnmarked(const struct stat& st) {
  const mode_t mode = st.st_mode & 07777;
  return (S_ISREG(st.st_mode) && st.st_size == 0 && mode == kUnmarkedFile) ||
         (S_ISDIR(st.st_mode) && mode == kUnmarkedDirectory);
}

// Two may do so at once.
bool Mark(int fd, bool is_directory) {
  const timespec epoch[2] = {{0, 0}, {0, 0}};
  return futimens(fd, epoch) == 0 && fchmod(fd, is_directory ? kDirectoryMode : kFileMode) == 0;
}

bool IsSame(int a, int b) {
  struct stat first, second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool IsAt(int fd, int directory, const std::string& name) {
  struct stat a, b;
  return fstat(fd, &a) == 0 && fstatat(directory, name.c_str(), &b, AT_SYMLINK_NOFOLLOW) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino && IsPlaceholder(a);
}

// Not ok(): errno.
UniqueFd Create(int directory, const std::string& name, bool is_directory) {
  const mode_t before = umask(0);
  UniqueFd fd;
  if (!is_directory) {
    fd = UniqueFd(openat(directory, name.c_str(),
                         O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, kUnmarkedFile));
  } else if (mkdirat(directory, name.c_str(), kUnmarkedDirectory) == 0) {
    fd = UniqueFd(openat(directory, name.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  umask(before);
  return fd;
}

// Creates it or takes it over; not ok(): errno.
UniqueFd Lock(int directory, const std::string& name, bool is_directory) {
  // Again if another sandbox removes it between the two. Each does so once.
  for (int tries = 0; tries < 1000; ++tries) {
    UniqueFd lock = Create(directory, name, is_directory);
    if (!lock.ok() && errno == EEXIST) {
      lock =
          UniqueFd(openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
      if (!lock.ok() && errno == ELOOP) errno = EEXIST;  // a symlink
    }
    if (!lock.ok() && errno == ENOENT) continue;
    struct stat st;
    if (!lock.ok() || fstat(lock.get(), &st) != 0) return UniqueFd();
    if (!IsPlaceholder(st)) {
      errno = EEXIST;
      return UniqueFd();
    }
    if (flock(lock.get(), LOCK_SH) != 0) return UniqueFd();
    // Its maker was killed, or is not as far yet.
    if (IsUnmarked(st) && !Mark(lock.get(), S_ISDIR(st.st_mode))) return UniqueFd();
    if (IsAt(lock.get(), directory, name)) return lock;
  }
  errno = EAGAIN;
  return UniqueFd();
}

// Gives the file of `made` another name. False if that cannot be: there is something, the file
// system has no links, or there is no /proc to name a descriptor by.
bool AddName(int directory, const struct stat& where, const std::string& name, Placeholder* made) {
  if (!made->is_file || made->device != where.st_dev || made->inode != where.st_ino) return false;
  // By descriptor: whoever opened it may, since Linux 6.10.
  int error = linkat(made->lock.get(), "", directory, name.c_str(), AT_EMPTY_PATH);
  if (error != 0 && errno != EEXIST) {
    char file[32];
    snprintf(file, sizeof(file), "/proc/self/fd/%d", made->lock.get());
    error = linkat(AT_FDCWD, file, directory, name.c_str(), AT_SYMLINK_FOLLOW);
  }
  if (error == 0) made->names.push_back(name);
  return error == 0;
}

// The names of `file` in that directory that nobody told us of: others left them to us.
void RemoveOtherNames(int directory, const struct stat& file) {
  DIR* list = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (list == nullptr) return;
  while (const dirent* entry = readdir(list)) {
    struct stat st;
    if (entry->d_ino == file.st_ino &&
        fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_dev == file.st_dev && st.st_ino == file.st_ino && IsPlaceholder(st)) {
      unlinkat(directory, entry->d_name, 0);
    }
  }
  closedir(list);
}

}  // namespace

bool IsPlaceholder(const struct stat& st) {
  const mode_t mode = st.st_mode & 07777;
  const bool shape = (S_ISREG(st.st_mode) && st.st_size == 0 && mode == kFileMode) ||
                     (S_ISDIR(st.st_mode) && mode == kDirectoryMode);
  return (shape && st.st_mtim.tv_sec == 0 && st.st_mtim.tv_nsec == 0) || IsUnmarked(st);
}

bool IsPlaceholder(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && IsPlaceholder(st);
}

bool AddNextPlaceholder(int directory, const std::string& name, ino_t file,
                        std::vector<Placeholder>* all) {
  struct stat where;
  if (fstat(directory, &where) != 0) return false;
  for (Placeholder& made : *all) {
    if (made.file == file) return AddName(directory, where, name, &made);
  }
  return false;
}

int AddPlaceholder(int directory, const std::string& name, bool is_directory,
                   std::vector<Placeholder>* all) {
  struct stat where;
  if (fstat(directory, &where) != 0) return errno;
  for (Placeholder& made : *all) {
    if (!is_directory && AddName(directory, where, name, &made)) return 0;
    // One that is there and is what we hold already. A second lock on it would keep us from
    // removing it.
    if (IsAt(made.lock.get(), directory, name)) {
      made.names.push_back(name);
      return 0;
    }
  }
  Placeholder made;
  made.lock = Lock(directory, name, is_directory);
  if (!made.lock.ok()) return errno;
  // Put there since we looked.
  for (Placeholder& other : *all) {
    if (!IsSame(made.lock.get(), other.lock.get())) continue;
    other.names.push_back(name);
    return 0;
  }
  made.names.push_back(name);
  made.directory = UniqueFd(fcntl(directory, F_DUPFD_CLOEXEC, 3));
  if (!made.directory.ok()) return errno;
  made.is_file = !is_directory;
  struct stat st;
  if (fstat(made.lock.get(), &st) != 0) return errno;
  made.device = where.st_dev;
  made.inode = where.st_ino;
  made.file = st.st_ino;
  all->push_back(std::move(made));
  return 0;
}

struct HeldPlaceholders::Lock {
  using File = std::pair<dev_t, ino_t>;
  // Of this process. A file that is open keeps its number.
  static std::map<File, std::weak_ptr<Lock>>& All() {
    static auto& all = *new std::map<File, std::weak_ptr<Lock>>;
    return all;
  }
  Lock(UniqueFd lock, File locked) : fd(std::move(lock)), file(locked) {}
  ~Lock() { All().erase(file); }

  const UniqueFd fd;
  const File file;
};

std::shared_ptr<HeldPlaceholders::Lock> HeldPlaceholders::Share(UniqueFd lock) {
  struct stat st;
  if (fstat(lock.get(), &st) != 0) return nullptr;
  const Lock::File file(st.st_dev, st.st_ino);
  std::weak_ptr<Lock>& known = Lock::All()[file];
  std::shared_ptr<Lock> shared = known.lock();
  if (shared == nullptr) known = shared = std::make_shared<Lock>(std::move(lock), file);
  return shared;
}

void HeldPlaceholders::Add(Placeholder made) {
  std::shared_ptr<Lock> lock = Share(std::move(made.lock));
  if (lock == nullptr) return;
  for (Held& held : all_) {
    if (held.lock != lock) continue;
    held.names.insert(held.names.end(), made.names.begin(), made.names.end());
    return;
  }
  all_.push_back({std::move(made.directory), std::move(made.names), std::move(lock)});
}

void HeldPlaceholders::Release() {
  for (const Held& held : all_) {
    if (held.lock.use_count() > 1) continue;  // the last of this process removes it
    const int lock = held.lock->fd.get(), directory = held.directory.get();
    struct stat st;
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 || fstat(lock, &st) != 0) continue;
    const bool is_directory = S_ISDIR(st.st_mode);
    for (const std::string& name : held.names) {
      if (!IsAt(lock, directory, name)) continue;
      unlinkat(directory, name.c_str(), is_directory ? AT_REMOVEDIR : 0);
    }
    if (!is_directory && fstat(lock, &st) == 0 && st.st_nlink > 0) RemoveOtherNames(directory, st);
  }
  all_.clear();
}

}  // namespace berth::launcher
