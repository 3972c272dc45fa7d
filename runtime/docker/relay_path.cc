#include "runtime/docker/relay_path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/docker/relay/relay_image.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

absl::StatusOr<int> MakeRelay(std::string_view image) {
  UniqueFd fd(memfd_create("berth-relay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return ErrnoStatus(errno, "make a memfd for the relay");
  for (std::string_view rest = image; !rest.empty();) {
    const ssize_t n = write(fd.get(), rest.data(), rest.size());
    if (n <= 0) return ErrnoStatus(errno, "write the relay");
    rest.remove_prefix(static_cast<size_t>(n));
  }
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return ErrnoStatus(errno, "seal the relay");
  return fd.release();
}

std::string PathOfRelay(int fd) {
  // By this process's number, which is its own as long as it runs this.
  return absl::StrCat("/proc/", getpid(), "/fd/", fd);
}

absl::StatusOr<std::string> PlainRelayPath() {
  static const auto* const fd = new absl::StatusOr<int>(MakeRelay(RelayImage()));
  ABSL_RETURN_IF_ERROR(fd->status());
  return PathOfRelay(**fd);
}

}  // namespace berth
