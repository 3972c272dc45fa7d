// Place: finds and makes the places in a new root where something is to be seen.
//
// The root is a tmpfs of our own; what has been mounted below it may be a workspace in which a
// hostile program changes names while we look them up. So: one component at a time, by descriptor,
// no symlink is followed (that of a placeholder counts as nothing), nothing is made in a file
// system that is not ours, and a directory on the way to something mounted inside a writable file
// system becomes a mount of its own, so that it cannot be renamed away from above it (`mv .git .x;
// mkdir .git`).
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"

namespace berth::launcher {

class Places {
 public:
  // `root`: the mount of the new root, attached.
  explicit Places(int root);

  // A file system that we made and may make names in.
  void AddOwn(int mount);
  // Something was mounted at `path`: what was known of it and of what is below is no more.
  void Covered(std::string_view path);

  // What is at `path` (absolute), as an O_PATH descriptor; if it is not there it is made, as a
  // directory or an empty file. Not ok(): errno. ELOOP: a symlink is in the way. ENOENT: it is not
  // there, in a file system that is not ours.
  UniqueFd Make(std::string_view path, bool directory);
  // Makes what must not be there yet, in a file system of ours: the directory, and *name in it. Who
  // mounts on that needs to open nothing, since nobody else knows of it. The descriptor is ours
  // until the next call. -1 if it is there, or cannot be made: Make says why.
  int MakeNew(std::string_view path, bool directory, std::string* name);
  // As Make, but nothing is made at the end of the path. `parent` and `missing` are the directory
  // and the name that is not there if errno is ENOENT; `last`: it is the path's last. The
  // descriptor of the directory is ours until the next call.
  UniqueFd Find(std::string_view path, int* parent, std::string* missing, bool* last);
  // The directory of `path` if it is the one that was looked at last, and the name in it. It is
  // ours until the next call. -1: look it up.
  int LastParent(std::string_view path, std::string* name) const;
  // The directory of `path`, and the name in it.
  UniqueFd FindParent(std::string_view path, std::string* name);
  // The same, made if need be. Of our own file systems only.
  UniqueFd MakeParent(std::string_view path, std::string* name);

  static bool IsDirectory(int fd);

 private:
  // One thing, looked at once.
  struct Place {
    UniqueFd fd;
    bool own = false, directory = false, mount_root = false;
  };
  Place Open(int dir, const char* name) const;
  // One step down; makes directories in our own file systems. `pin`: makes it a mount of its own if
  // it is in a file system that the sandbox can write to and is not ours.
  Place Down(const Place& dir, const std::string& name, bool make, bool pin) const;
  // The directory of `path`, kept for the next that is in it too, and the *name in it; null: errno,
  // and *at is as far as it came, with *name what is not there.
  const Place* Parent(std::string_view path, bool make, Place* at, std::string* name);

  int root_;
  std::vector<std::pair<unsigned, unsigned>> own_;  // devices: major, minor
  std::string last_path_;                           // "/a/b"
  Place last_;
  Place far_;  // as far as a Find came that found no directory
};

// "/a/b" is {"a", "b"}. False if it is not absolute, or has "." or "..".
bool SplitPath(std::string_view path, std::vector<std::string>* names);
// Whether one of the two is the other, or above it.
bool Nested(std::string_view a, std::string_view b);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_PLACE_H_
