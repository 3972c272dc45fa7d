#include "sandbox/base/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr int kDepth = 32;    // that many folders are open at most
constexpr int kPasses = 100;  // over one folder, while somebody fills it again

class Remover {
 public:
  // `dir` is where folders that lie too deep are brought to.
  explicit Remover(int dir) : dir_(dir) {
    struct stat st;
    if (fstat(dir, &st) == 0) device_ = st.st_dev;
  }

  int Remove(int parent, const char* name, int depth) {
    for (int pass = 0; pass < kPasses; ++pass) {
      if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
      if (errno != EISDIR) return errno;
      if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
      if (errno != ENOTEMPTY && errno != EEXIST) return errno;
      if (depth == 0) return BringUp(parent, name);
      if (const int error = Empty(parent, name, depth)) return error;
    }
    return EBUSY;
  }

  // What was brought up.
  int RemoveDeep() {
    for (; done_ < deep_; ++done_) {
      char name[32];
      DeepName(done_, name);
      if (const int error = Remove(dir_, name, kDepth)) return error;
    }
    return 0;
  }

 private:
  // By process too: two may be at it at once.
  static void DeepName(unsigned number, char (&name)[32]) {
    snprintf(name, sizeof(name), ".deep-%d-%u", getpid(), number);
  }

  int BringUp(int parent, const char* name) {
    // To move a folder is to change its "..": its owner must be able to write to it.
    Open(parent, name);
    char up[32];
    DeepName(deep_, up);
    if (renameat(parent, name, dir_, up) != 0) return errno;
    ++deep_;
    return 0;
  }

  UniqueFd Open(int parent, const char* name) const {
    constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const UniqueFd place(openat(parent, name, O_PATH | kFlags));
    struct stat st;
    if (!place.ok() || fstat(place.get(), &st) != 0) return UniqueFd();
    if (st.st_dev != device_) {
      errno = EXDEV;
      return UniqueFd();
    }
    if ((st.st_mode & S_IRWXU) != S_IRWXU) {
      // fchmod takes no O_PATH descriptor, and fchmodat would follow a link that is put there now.
      char path[32];
      snprintf(path, sizeof(path), "/proc/self/fd/%d", place.get());
      chmod(path, S_IRWXU);
    }
    return UniqueFd(openat(place.get(), ".", O_RDONLY | kFlags));
  }

  int Empty(int parent, const char* name, int depth) {
    UniqueFd folder = Open(parent, name);
    if (!folder.ok()) return errno == ENOENT ? 0 : errno;
    const int fd = folder.get();
    DIR* list = fdopendir(fd);
    if (list == nullptr) return errno;
    folder.release();  // closed with the list
    int error = 0;
    while (error == 0) {
      errno = 0;
      const dirent* entry = readdir(list);
      if (entry == nullptr) {
        error = errno;
        break;
      }
      if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
      error = Remove(fd, entry->d_name, depth - 1);
    }
    closedir(list);
    return error;
  }

  const int dir_;
  dev_t device_ = 0;
  unsigned deep_ = 0, done_ = 0;
};

}  // namespace

int RemoveTree(int dir_fd, const char* name) {
  Remover remover(dir_fd);
  if (const int error = remover.Remove(dir_fd, name, kDepth)) return error;
  return remover.RemoveDeep();
}

}  // namespace berth
