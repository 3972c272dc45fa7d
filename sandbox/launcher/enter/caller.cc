#include "sandbox/launcher/enter/caller.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace berth::launcher {

bool ReadCallersPath(pid_t pid, uint64_t address, std::string* path) {
  // Of the smallest pages there are: a piece that stays in one of them stays in one of any size.
  constexpr size_t kPage = 4096;
  char text[PATH_MAX];
  for (size_t size = 0; size < sizeof(text);) {
    // What comes behind the string may not be mapped, and then nothing of a piece is read.
    const size_t piece = std::min(kPage - (address + size) % kPage, sizeof(text) - size);
    iovec ours{text + size, piece};
    iovec theirs{reinterpret_cast<void*>(address + size), piece};
    const ssize_t n = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    if (n <= 0) return false;
    if (memchr(text + size, '\0', static_cast<size_t>(n)) != nullptr) {
      path->assign(text);
      return !path->empty();
    }
    size += static_cast<size_t>(n);
  }
  return false;
}

bool ReadCallersPath(pid_t pid, int folder, uint64_t address, std::string* path) {
  if (!ReadCallersPath(pid, address, path)) return false;
  if (path->front() == '/') return true;
  char name[48], place[PATH_MAX];
  if (folder == AT_FDCWD) {
    snprintf(name, sizeof(name), "/proc/%d/cwd", pid);
  } else {
    snprintf(name, sizeof(name), "/proc/%d/fd/%d", pid, folder);
  }
  const ssize_t n = readlink(name, place, sizeof(place));
  // Pipes and their like have no place; a path that was cut off is another.
  if (n <= 0 || static_cast<size_t>(n) == sizeof(place) || place[0] != '/') return false;
  path->insert(0, std::string(place, static_cast<size_t>(n)) + "/");
  return true;
}

}  // namespace berth::launcher
