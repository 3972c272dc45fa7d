#include "sandbox/launcher/enter/file_systems.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/own_names.h"

namespace berth::launcher {
namespace {

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

// `proc` is read-only yet, and so is a copy of a part of it.
int KeepReadOnly(int proc, const char* name) {
  const UniqueFd tree(CloneTreeAt(proc, name));
  if (!tree.ok()) return errno == ENOENT ? 0 : errno;
  return MoveMountTo(tree.get(), proc, name) == 0 ? 0 : errno;
}

int BindDevice(int dev, const Device& device) {
  char path[32];
  snprintf(path, sizeof(path), "/dev/%s", device.name);
  const UniqueFd source(OpenAt2(AT_FDCWD, path, O_PATH, RESOLVE_NO_SYMLINKS));
  struct stat st;
  if (!source.ok() || fstat(source.get(), &st) != 0) return errno;
  // The device and not only its name (CVE-2025-31133 was a /dev/null that was something else).
  if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(device.major, device.minor)) return ENODEV;
  const UniqueFd tree(CloneTree(source.get()));
  if (!tree.ok() || mknodat(dev, device.name, S_IFREG | 0444, 0) != 0 ||
      SetMountAttributes(tree.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, true) != 0 ||
      MoveMountTo(tree.get(), dev, device.name) != 0) {
    return errno;
  }
  return 0;
}

// Makes the directory `name` and mounts on it.
int MountAt(int dir, const char* name, int mount) {
  if (mount < 0 || mkdirat(dir, name, 0755) != 0) return errno;
  return MoveMountTo(mount, dir, name) == 0 ? 0 : errno;
}

}  // namespace

UniqueFd MakeTmpfs(uint64_t size, const char* mode, uint64_t attributes) {
  const UniqueFd fs(FsOpen("tmpfs"));
  if (!fs.ok() || FsSet(fs.get(), "mode", mode) != 0) return UniqueFd();
  if (size != 0) {
    char text[24];
    snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(size));
    if (FsSet(fs.get(), "size", text) != 0) return UniqueFd();
    // Empty files take no bytes of it, and a kilobyte of the kernel's memory each.
    snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(size / 4096 + 8192));
    if (FsSet(fs.get(), "nr_inodes", text) != 0) return UniqueFd();
  }
  return UniqueFd(FsMount(fs.get(), kQuiet | attributes));
}

int MountProc(int target) {
  const UniqueFd fs(FsOpen("proc"));
  if (!fs.ok()) return errno;
  const UniqueFd mount(FsMount(fs.get(), kQuiet | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY));
  if (!mount.ok() || MoveMount(mount.get(), target) != 0) return errno;
  for (const char* name : kAnybodys) {
    if (const int error = KeepReadOnly(mount.get(), name)) return error;
  }
  if (geteuid() == 0) {
    for (const char* name : kRootsOwn) {
      if (const int error = KeepReadOnly(mount.get(), name)) return error;
    }
  }
  return ClearMountAttributes(mount.get(), MOUNT_ATTR_RDONLY) == 0 ? 0 : errno;
}

int MountDev(int target, UniqueFd* dev) {
  *dev = MakeTmpfs(1 << 20, "755", MOUNT_ATTR_NOEXEC);
  if (!dev->ok() || MoveMount(dev->get(), target) != 0) return errno;
  for (const Device& device : kDevices) {
    if (const int error = BindDevice(dev->get(), device)) return error;
  }
  const UniqueFd fs(FsOpen("devpts"));
  if (!fs.ok() || FsSet(fs.get(), "mode", "620") != 0 || FsSet(fs.get(), "ptmxmode", "666") != 0) {
    return errno;
  }
  const UniqueFd pts(FsMount(fs.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
  if (const int error = MountAt(dev->get(), kTerminals, pts.get())) return error;
  for (const DeviceLink& link : kDeviceLinks) {
    if (symlinkat(link.text, dev->get(), link.name) != 0) return errno;
  }
  return 0;
}

int FinishDev(int dev, uint64_t size) {
  const UniqueFd shm = MakeTmpfs(size, "1777", 0);
  if (const int error = MountAt(dev, kSharedMemory, shm.get())) return error;
  return SetMountAttributes(dev, MOUNT_ATTR_RDONLY, false) == 0 ? 0 : errno;
}

UniqueFd MakeOverlay(int lower, int upper, int work, uint64_t attributes) {
  const UniqueFd fs(FsOpen("overlay"));
  if (!fs.ok()) return UniqueFd();
  const struct {
    const char* key;
    int fd;
  } layers[] = {{"lowerdir", lower}, {"upperdir", upper}, {"workdir", work}};
  for (const auto& layer : layers) {
    // By descriptor: no name to change, and no ':' or ',' in it to be taken for a separator.
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", layer.fd);
    if (FsSet(fs.get(), layer.key, path) != 0) return UniqueFd();
  }
  // Without it the marks of removed files are in attributes that only the host's root may write.
  if (FsFlag(fs.get(), "userxattr") != 0) return UniqueFd();
  return UniqueFd(FsMount(fs.get(), kQuiet | attributes));
}

}  // namespace berth::launcher
