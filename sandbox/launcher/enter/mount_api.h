// The mount API by descriptors (Linux 5.2 to 5.12) and openat2 (5.6), which not every libc wraps.
// All return a descriptor or 0; -1 with errno.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_API_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_API_H_

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace berth::launcher {

inline constexpr uint64_t kMsPrivate = 1 << 18;  // MS_PRIVATE, for mount_attr::propagation

inline int OpenAt2(int dir, const char* path, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  int fd;
  // EAGAIN: a rename somewhere raced with a lookup of "..", which we do not make but the kernel
  // may.
  for (int tries = 0;
       (fd = static_cast<int>(syscall(SYS_openat2, dir, path, &how, sizeof(how)))) < 0 &&
       errno == EAGAIN && tries < 32;
       ++tries) {
  }
  return fd;
}

// A copy of the mounts at and below what `fd` is, attached nowhere. It has their attributes.
inline int CloneTree(int fd) {
  return static_cast<int>(syscall(
      SYS_open_tree, fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE));
}
// The same of a name in a directory that nobody else can change. Follows no symlink.
inline int CloneTreeAt(int dir, const char* name) {
  return static_cast<int>(
      syscall(SYS_open_tree, dir, name,
              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_RECURSIVE));
}

// Of the mount `fd`, or of it and all below.
inline int SetMountAttributes(int fd, uint64_t set, bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = set;
  // Else what the host mounts below the source later would come up inside, writable.
  attributes.propagation = kMsPrivate;
  return static_cast<int>(syscall(SYS_mount_setattr, fd, "",
                                  AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attributes,
                                  sizeof(attributes)));
}

// Takes an attribute away again.
inline int ClearMountAttributes(int fd, uint64_t clear) {
  mount_attr attributes{};
  attributes.attr_clr = clear;
  return static_cast<int>(
      syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)));
}

// Puts the mount `tree` on what `target` is: by descriptor on both sides, no name is looked up.
inline int MoveMount(int tree, int target) {
  return static_cast<int>(syscall(SYS_move_mount, tree, "", target, "",
                                  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

// The same for a name in a directory of our own that nobody else can change. Follows no symlink.
inline int MoveMountTo(int tree, int dir, const char* name) {
  return static_cast<int>(syscall(SYS_move_mount, tree, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH));
}

inline int FsOpen(const char* type) {
  return static_cast<int>(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
}
inline int FsSet(int fs, const char* key, const char* value) {
  return static_cast<int>(syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}
inline int FsFlag(int fs, const char* key) {
  return static_cast<int>(syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, key, nullptr, 0));
}
inline int FsMount(int fs, uint64_t attributes) {
  if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return -1;
  return static_cast<int>(
      syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, static_cast<unsigned>(attributes)));
}

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_MOUNT_API_H_
