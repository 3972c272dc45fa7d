#include "sandbox/launcher/helper_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/helper_image.h"

namespace berth::launcher {
namespace {

constexpr mode_t kMode = 0500;

// FNV-1a. Only tells versions apart: the contents are compared.
uint64_t Sum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char byte : bytes) sum = (sum ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return sum;
}

bool IsHelper(int dir_fd, const char* name) {
  const std::string_view image = HelperImage();
  const UniqueFd fd(openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat st;
  if (!fd.ok() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
      (st.st_mode & 07777) != kMode || static_cast<size_t>(st.st_size) != image.size()) {
    return false;
  }
  void* const map = mmap(nullptr, image.size(), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (map == MAP_FAILED) return false;
  const bool same = memcmp(map, image.data(), image.size()) == 0;
  munmap(map, image.size());
  return same;
}

absl::Status WriteHelper(int dir_fd, const std::string& name) {
  UniqueFd fd(openat(dir_fd, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("make ", name));
  for (std::string_view image = HelperImage(); !image.empty();) {
    const ssize_t n = write(fd.get(), image.data(), image.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, absl::StrCat("write ", name));
    image.remove_prefix(static_cast<size_t>(n));
  }
  // Whatever the umask is.
  if (fchmod(fd.get(), kMode) != 0) return ErrnoStatus(errno, absl::StrCat("close ", name));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> InstallHelper(int dir_fd) {
  char name[32];
  snprintf(name, sizeof(name), "helper-%016llx",
           static_cast<unsigned long long>(Sum(HelperImage())));
  if (IsHelper(dir_fd, name)) return std::string(name);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string unfinished =
      absl::StrCat(name, ".", getpid(), ".", now.tv_sec, ".", now.tv_nsec);
  absl::Status written = WriteHelper(dir_fd, unfinished);
  // Closed by now: a file that is open for writing cannot be executed.
  if (written.ok() && renameat(dir_fd, unfinished.c_str(), dir_fd, name) != 0) {
    written = ErrnoStatus(errno, absl::StrCat("rename ", unfinished));
  }
  if (!written.ok()) {
    unlinkat(dir_fd, unfinished.c_str(), 0);
    return written;
  }
  if (!IsHelper(dir_fd, name))
    return absl::FailedPreconditionError(absl::StrCat(name, " is not as it was written"));
  return std::string(name);
}

}  // namespace berth::launcher
