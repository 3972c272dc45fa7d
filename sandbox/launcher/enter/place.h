// Place: finds and makes the places in a new root where something is to be seen.
//
// The root is a tmpfs of our own; what has been mounted below it may be a workspace in which a
// hostile program changes names while we look them up. So: one component at a time, by descriptor,
// no symlink is followed, nothing is made in a file system that is not ours, and a directory on the
// way to something mounted inside a writable file system becomes a mount of its own, so that it
// cannot be renamed away from above it (`mv .git .x; mkdir .git`).
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

class Places {
 public:
  // `root`: the mount of the new root, attached.
  explicit Places(int root);

  // A file system that we made and may make names in.
  void AddOwn(int mount);

  // What is at `path` (absolute), as an O_PATH descriptor; if it is not there it is made, as a
  // directory or an empty file. Not ok(): errno. ELOOP: a symlink is in the way. ENOENT: it is not
  // there, in a file system that is not ours.
  UniqueFd Make(std::string_view path, bool directory) const;
  // The same, but nothing is made at the end of the path. `parent` and `missing` are the directory
  // and the name that is not there if errno is ENOENT; `last`: it is the path's last.
  UniqueFd Find(std::string_view path, UniqueFd* parent, std::string* missing, bool* last) const;
  // The directory of `path`, made if need be, and the name in it. Of our own file systems only.
  UniqueFd MakeParent(std::string_view path, std::string* name) const;

  static bool IsDirectory(int fd);

 private:
  bool IsOwn(int fd) const;
  // One step down; makes directories in our own file systems. `pin`: makes it a mount of its own if
  // it is in a file system that the sandbox can write to and is not ours.
  UniqueFd Down(int dir, const std::string& name, bool make, bool pin) const;

  int root_;
  std::vector<dev_t> own_;
};

// "/a/b" is {"a", "b"}. False if it is not absolute, or has "." or "..".
bool SplitPath(std::string_view path, std::vector<std::string>* names);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_
