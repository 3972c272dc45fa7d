#include "sandbox/launcher/enter/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/placeholder_link.h"

namespace berth::launcher {
namespace {

UniqueFd Error(int error) {
  errno = error;
  return UniqueFd();
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

bool Nested(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  while (!a.empty() && a.back() == '/') a.remove_suffix(1);
  return b.substr(0, a.size()) == a && (b.size() == a.size() || b[a.size()] == '/');
}

Places::Places(int root) : root_(root) { AddOwn(root); }

void Places::AddOwn(int mount) {
  struct statx st;
  if (statx(mount, "", AT_EMPTY_PATH, STATX_TYPE, &st) == 0) {
    own_.emplace_back(st.stx_dev_major, st.stx_dev_minor);
  }
}

void Places::Covered(std::string_view path) {
  if (!last_path_.empty() && Nested(path, last_path_) && path.size() <= last_path_.size()) {
    last_path_.clear();
    last_ = Place();
  }
}

bool Places::IsDirectory(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

Places::Place Places::Open(int dir, const char* name) const {
  Place place;
  UniqueFd fd(OpenAt2(dir, name, O_PATH | O_NOFOLLOW,
                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  struct statx st;
  if (!fd.ok() || statx(fd.get(), "", AT_EMPTY_PATH, STATX_TYPE, &st) != 0) return place;
  // With O_PATH a symlink at the end is opened itself, whatever RESOLVE_NO_SYMLINKS says.
  if (S_ISLNK(st.stx_mode)) {
    errno = IsPlaceholderLink(fd.get(), "") ? ENOENT : ELOOP;
    return place;
  }
  const std::pair<unsigned, unsigned> device(st.stx_dev_major, st.stx_dev_minor);
  place.fd = std::move(fd);
  place.own = std::count(own_.begin(), own_.end(), device) != 0;
  place.directory = S_ISDIR(st.stx_mode);
  place.mount_root = (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  return place;
}

Places::Place Places::Down(const Place& dir, const std::string& name, bool make, bool pin) const {
  Place place = Open(dir.fd.get(), name.c_str());
  if (!place.fd.ok() && errno == ENOENT && make && dir.own) {
    if (mkdirat(dir.fd.get(), name.c_str(), 0755) != 0) return Place();
    return Open(dir.fd.get(), name.c_str());
  }
  if (!place.fd.ok() || !pin || place.own || place.mount_root) return place;
  struct statvfs vfs;
  if (fstatvfs(place.fd.get(), &vfs) != 0) return Place();
  if ((vfs.f_flag & ST_RDONLY) != 0) return place;
  const UniqueFd tree(CloneTree(place.fd.get()));
  if (!tree.ok() || SetMountAttributes(tree.get(), 0, true) != 0 ||
      MoveMount(tree.get(), place.fd.get()) != 0) {
    return Place();
  }
  return Open(dir.fd.get(), name.c_str());  // now the mount on it
}

int Places::LastParent(std::string_view path, std::string* name) const {
  const size_t slash = path.rfind('/');
  if (!last_.fd.ok() || slash == path.npos || slash + 1 == path.size() ||
      path.substr(0, slash) != last_path_) {
    return -1;
  }
  *name = path.substr(slash + 1);
  return *name != "." && *name != ".." ? last_.fd.get() : -1;
}

const Places::Place* Places::Parent(std::string_view path, bool make, Place* at,
                                    std::string* name) {
  // Most are in the directory of the one before.
  if (LastParent(path, name) >= 0) return &last_;
  std::vector<std::string> names;
  if (!SplitPath(path, &names) || names.empty()) {
    errno = EINVAL;
    return nullptr;
  }
  std::string folder;
  *at = {UniqueFd(fcntl(root_, F_DUPFD_CLOEXEC, 3)), /*own=*/true, /*directory=*/true};
  for (size_t i = 0; at->fd.ok() && i + 1 < names.size(); ++i) {
    Place next = Down(*at, names[i], make, /*pin=*/true);
    if (!next.fd.ok()) {
      *name = names[i];
      return nullptr;
    }
    *at = std::move(next);
    folder.append("/").append(names[i]);
  }
  if (!at->fd.ok()) return nullptr;
  *name = names.back();
  last_path_ = std::move(folder);
  last_ = std::move(*at);
  return &last_;
}

UniqueFd Places::Find(std::string_view path, int* parent, std::string* missing, bool* last) {
  *last = false;
  const Place* folder = Parent(path, /*make=*/false, &far_, missing);
  const int error = errno;
  *parent = folder != nullptr ? folder->fd.get() : far_.fd.get();
  if (folder == nullptr) return Error(error);
  *last = true;
  return std::move(Down(*folder, *missing, /*make=*/false, /*pin=*/false).fd);
}

int Places::MakeNew(std::string_view path, bool directory, std::string* name) {
  Place at;
  const Place* folder = Parent(path, /*make=*/true, &at, name);
  if (folder == nullptr || !folder->own) return -1;
  const int dir = folder->fd.get();
  const int error = directory ? mkdirat(dir, name->c_str(), 0755)
                              : mknodat(dir, name->c_str(), S_IFREG | 0444, 0);
  return error == 0 ? dir : -1;
}

UniqueFd Places::Make(std::string_view path, bool directory) {
  Place at;
  std::string name;
  const Place* folder = Parent(path, /*make=*/true, &at, &name);
  if (folder == nullptr) return UniqueFd();
  Place place = Down(*folder, name, directory, /*pin=*/false);
  if (!place.fd.ok() && errno == ENOENT && !directory && folder->own) {
    const UniqueFd file(openat(folder->fd.get(), name.c_str(),
                               O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
    if (!file.ok()) return UniqueFd();
    place = Open(folder->fd.get(), name.c_str());
  }
  if (place.fd.ok() && place.directory != directory) return Error(directory ? ENOTDIR : EISDIR);
  return std::move(place.fd);
}

UniqueFd Places::FindParent(std::string_view path, std::string* name) {
  Place at;
  const Place* folder = Parent(path, /*make=*/false, &at, name);
  return folder != nullptr ? UniqueFd(fcntl(folder->fd.get(), F_DUPFD_CLOEXEC, 3)) : UniqueFd();
}

UniqueFd Places::MakeParent(std::string_view path, std::string* name) {
  Place at;
  const Place* folder = Parent(path, /*make=*/true, &at, name);
  if (folder == nullptr) return UniqueFd();
  if (!folder->own) return Error(EROFS);
  return UniqueFd(fcntl(folder->fd.get(), F_DUPFD_CLOEXEC, 3));
}

}  // namespace berth::launcher
