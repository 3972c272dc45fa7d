#include "runtime/record/host_id.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/record/random_id.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

std::string HostId() {
  // It is root's file, and may be a symlink that the system made.
  const UniqueFd file(open("/etc/machine-id", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char text[kHexIdLength];
  if (!file.ok() || read(file.get(), text, sizeof text) != sizeof text) return "";
  const absl::string_view id(text, sizeof text);
  return IsHexId(id) ? std::string(id) : "";
}

}  // namespace berth
