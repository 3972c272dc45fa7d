#include "runtime/ports/free_leases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

struct flock WholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool IsPort(const std::string& name) {
  uint32_t port;
  return absl::SimpleAtoi(name, &port) && port > 0 && port <= UINT16_MAX &&
         name == absl::StrCat(port);
}

UniqueFd OpenLease(int dir_fd, const std::string& port) {
  UniqueFd fd(openat(dir_fd, port.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat file;
  if (fd.ok() &&
      (fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_uid != geteuid())) {
    errno = EPERM;
    return UniqueFd();
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FreePortLeases(int dir_fd) {
  UniqueFd own(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* dir = own.ok() ? fdopendir(own.get()) : nullptr;
  if (dir == nullptr) return ErrnoStatus(errno, "list the leases of ports");
  own.release();
  std::vector<std::string> free;
  while (const dirent* entry = readdir(dir)) {
    const std::string name = entry->d_name;
    if (!IsPort(name)) continue;
    const UniqueFd fd = OpenLease(dir_fd, name);
    struct flock lock = WholeFile();
    if (fd.ok() && fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK) {
      free.push_back(name);
    }
  }
  closedir(dir);
  return free;
}

absl::Status RemoveFreePortLease(int dir_fd, const std::string& port) {
  if (!IsPort(port)) return absl::InvalidArgumentError(absl::StrCat("'", port, "' is not a port"));
  const UniqueFd fd = OpenLease(dir_fd, port);
  if (!fd.ok() && errno == ENOENT) return absl::OkStatus();
  if (!fd.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("lease of port ", port, ": not a file of this user"));
  }
  struct flock lock = WholeFile();
  if (fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("lease of port ", port, ": it is held"));
  }
  // Between open and lock it may have been given back and taken anew: then it is another file.
  struct stat ours, named;
  if (fstat(fd.get(), &ours) != 0 ||
      fstatat(dir_fd, port.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      ours.st_ino != named.st_ino || ours.st_dev != named.st_dev) {
    return absl::OkStatus();
  }
  if (unlinkat(dir_fd, port.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("remove lease of port ", port));
  }
  return absl::OkStatus();
}

}  // namespace berth
