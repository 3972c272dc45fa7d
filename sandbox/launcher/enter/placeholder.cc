#include "sandbox/launcher/enter/placeholder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/placeholder_link.h"

namespace berth::launcher {
namespace {

enum Byte : off_t { kNeeded = 0, kRemoving = 1 };

struct flock LockOf(Byte byte, int16_t type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool Set(int folder, Byte byte) {
  struct flock lock = LockOf(byte, F_RDLCK);
  return fcntl(folder, F_OFD_SETLK, &lock) == 0;
}

// By hand and not by closing: a child that was just cloned may have the same open file yet.
void Clear(int folder, Byte byte) {
  struct flock lock = LockOf(byte, F_UNLCK);
  fcntl(folder, F_OFD_SETLK, &lock);
}

// Whether it is not known that no other has set it.
bool OthersHave(int folder, Byte byte) {
  struct flock lock = LockOf(byte, F_WRLCK);
  return fcntl(folder, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// Whoever removes closes the folder after it, which is told to who watches it. 0 or an errno.
int AwaitRemoval(int folder) {
  constexpr uint64_t kLong = uint64_t{30} * 1000000000;
  const UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch.ok() || fchdir(folder) != 0 ||
      inotify_add_watch(watch.get(), ".", IN_CLOSE_NOWRITE) < 0 || chdir("/") != 0) {
    return errno;
  }
  const uint64_t deadline = NowNs() + kLong;
  while (OthersHave(folder, kRemoving)) {
    pollfd told{watch.get(), POLLIN, 0};
    const uint64_t now = NowNs();
    if (now >= deadline) return ETIMEDOUT;
    const int ms = static_cast<int>((deadline - now) / 1000000) + 1;
    if (poll(&told, 1, ms) < 0 && errno != EINTR) return errno;
    char events[4096];
    while (read(watch.get(), events, sizeof(events)) > 0) {
    }
  }
  return 0;
}

void RemoveAll(int folder) {
  DIR* const list = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (list == nullptr) return;
  while (const dirent* entry = readdir(list)) {
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) continue;
    if (IsPlaceholderLink(folder, entry->d_name)) unlinkat(folder, entry->d_name, 0);
  }
  closedir(list);
}

}  // namespace

UniqueFd KeepPlaceholders(int folder) {
  UniqueFd kept(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!kept.ok() || !Set(kept.get(), kNeeded)) return UniqueFd();
  if (!OthersHave(kept.get(), kRemoving)) return kept;
  const int error = AwaitRemoval(kept.get());
  if (error != 0) kept.reset();
  errno = error;
  return kept;
}

int MakePlaceholder(int folder, const std::string& name, const std::string& like) {
  int error = EPERM;
  if (!like.empty()) {
    error = linkat(folder, like.c_str(), folder, name.c_str(), 0) == 0 ? 0 : errno;
  }
  // Some file systems have no links, or not that many.
  if (error != 0 && error != EEXIST) {
    error = symlinkat(kPlaceholderText, folder, name.c_str()) == 0 ? 0 : errno;
  }
  return error == EEXIST && IsPlaceholderLink(folder, name.c_str()) ? 0 : error;
}

void ReleasePlaceholders(UniqueFd folder) {
  const int fd = folder.get();
  // In this order, so that of several that end at once one is the last, and sees it.
  const bool set = Set(fd, kRemoving);
  Clear(fd, kNeeded);
  if (set && !OthersHave(fd, kNeeded)) RemoveAll(fd);
  // Before it is closed, since that is what others wait for.
  Clear(fd, kRemoving);
}

struct KeptFolders::Kept {
  using Folder = std::pair<dev_t, ino_t>;
  // Of this process. A folder that is open keeps its number.
  static std::map<Folder, std::weak_ptr<Kept>>& All() {
    static auto& all = *new std::map<Folder, std::weak_ptr<Kept>>;
    return all;
  }
  Kept(UniqueFd kept, Folder which) : fd(std::move(kept)), folder(which) {}
  ~Kept() {
    All().erase(folder);
    ReleasePlaceholders(std::move(fd));
  }

  UniqueFd fd;
  const Folder folder;
};

void KeptFolders::Add(UniqueFd folder) {
  struct stat st;
  if (fstat(folder.get(), &st) != 0) return;
  const Kept::Folder which(st.st_dev, st.st_ino);
  std::weak_ptr<Kept>& known = Kept::All()[which];
  std::shared_ptr<Kept> kept = known.lock();
  if (kept == nullptr) {
    known = kept = std::make_shared<Kept>(std::move(folder), which);
  } else {
    Clear(folder.get(), kNeeded);
  }
  all_.push_back(std::move(kept));
}

void KeptFolders::Release() { all_.clear(); }

}  // namespace berth::launcher
