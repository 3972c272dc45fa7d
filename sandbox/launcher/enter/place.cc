#include "sandbox/launcher/enter/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/mount_api.h"

namespace berth::launcher {
namespace {

UniqueFd Error(int error) {
  errno = error;
  return UniqueFd();
}

UniqueFd OpenOne(int dir, const char* name) {
  UniqueFd fd(OpenAt2(dir, name, O_PATH | O_NOFOLLOW,
                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  // With O_PATH a symlink at the end is opened itself, whatever RESOLVE_NO_SYMLINKS says.
  struct stat st;
  if (fd.ok() && fstat(fd.get(), &st) != 0) return UniqueFd();
  return fd.ok() && S_ISLNK(st.st_mode) ? Error(ELOOP) : std::move(fd);
}

// Whether it is where a mount begins.
bool IsMountRoot(int fd, bool* is) {
  struct statx st;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) != 0) return false;
  *is = (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  return true;
}

}  // namespace

bool SplitPath(std::string_view path, std::vector<std::string>* names) {
  names->clear();
  if (path.empty() || path[0] != '/') return false;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    if (name == "." || name == "..") return false;
    if (!name.empty()) names->emplace_back(name);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

Places::Places(int root) : root_(root) { AddOwn(root); }

void Places::AddOwn(int mount) {
  struct stat st;
  if (fstat(mount, &st) == 0) own_.push_back(st.st_dev);
}

bool Places::IsOwn(int fd) const {
  struct stat st;
  return fstat(fd, &st) == 0 && std::count(own_.begin(), own_.end(), st.st_dev) != 0;
}

bool Places::IsDirectory(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

UniqueFd Places::Down(int dir, const std::string& name, bool make, bool pin) const {
  UniqueFd fd = OpenOne(dir, name.c_str());
  if (!fd.ok() && errno == ENOENT && make && IsOwn(dir)) {
    if (mkdirat(dir, name.c_str(), 0755) != 0) return UniqueFd();
    return OpenOne(dir, name.c_str());
  }
  if (!fd.ok() || !pin || IsOwn(fd.get())) return fd;
  bool mount_root = false;
  struct statvfs vfs;
  if (!IsMountRoot(fd.get(), &mount_root) || fstatvfs(fd.get(), &vfs) != 0) return UniqueFd();
  if (mount_root || (vfs.f_flag & ST_RDONLY) != 0) return fd;
  const UniqueFd tree(CloneTree(fd.get()));
  if (!tree.ok() || SetMountAttributes(tree.get(), 0, true) != 0 ||
      MoveMount(tree.get(), fd.get()) != 0) {
    return UniqueFd();
  }
  return OpenOne(dir, name.c_str());  // now the mount on it
}

UniqueFd Places::Find(std::string_view path, UniqueFd* parent, std::string* missing,
                      bool* last) const {
  std::vector<std::string> names;
  if (!SplitPath(path, &names) || names.empty()) return Error(EINVAL);
  UniqueFd at(fcntl(root_, F_DUPFD_CLOEXEC, 3));
  for (size_t i = 0; at.ok() && i < names.size(); ++i) {
    *last = i + 1 == names.size();
    UniqueFd next = Down(at.get(), names[i], false, !*last);
    if (!next.ok()) {
      const int error = errno;
      *missing = names[i];
      *parent = std::move(at);
      return Error(error);
    }
    at = std::move(next);
  }
  return at;
}

UniqueFd Places::Make(std::string_view path, bool directory) const {
  std::vector<std::string> names;
  if (!SplitPath(path, &names) || names.empty()) return Error(EINVAL);
  UniqueFd at(fcntl(root_, F_DUPFD_CLOEXEC, 3));
  for (size_t i = 0; at.ok() && i + 1 < names.size(); ++i) {
    at = Down(at.get(), names[i], true, true);
  }
  if (!at.ok()) return UniqueFd();
  UniqueFd fd = Down(at.get(), names.back(), directory, false);
  if (!fd.ok() && errno == ENOENT && !directory && IsOwn(at.get())) {
    const UniqueFd file(openat(at.get(), names.back().c_str(),
                               O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
    if (!file.ok()) return UniqueFd();
    fd = OpenOne(at.get(), names.back().c_str());
  }
  if (fd.ok() && IsDirectory(fd.get()) != directory) return Error(directory ? ENOTDIR : EISDIR);
  return fd;
}

UniqueFd Places::MakeParent(std::string_view path, std::string* name) const {
  std::vector<std::string> names;
  if (!SplitPath(path, &names) || names.empty()) return Error(EINVAL);
  *name = names.back();
  UniqueFd at(fcntl(root_, F_DUPFD_CLOEXEC, 3));
  for (size_t i = 0; at.ok() && i + 1 < names.size(); ++i) {
    at = Down(at.get(), names[i], true, true);
  }
  if (at.ok() && !IsOwn(at.get())) return Error(EROFS);
  return at;
}

}  // namespace berth::launcher
