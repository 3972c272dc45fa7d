#include "reaper/mounts.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/record/session_name.h"
#include "sandbox/launcher/proc.h"

namespace berth::reaper {
namespace {

constexpr size_t kShown = 4096;

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// Spaces, tabs, newlines and backslashes stand as "\040" and the like (proc(5)).
std::string Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> MountsBelow(absl::string_view mountinfo, absl::string_view path) {
  std::vector<std::string> found;
  for (const absl::string_view line : absl::StrSplit(mountinfo, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(' ', 5));
    if (fields.size() < 6) continue;
    std::string point = Unescape(fields[4]);
    if (point == path || absl::StartsWith(point, absl::StrCat(path, "/"))) {
      found.push_back(std::move(point));
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

absl::Status UnmountBelow(int dir_fd, const std::string& name) {
  // The folder's own path, without symlinks, as the kernel tells it in mountinfo.
  std::error_code error;
  const std::string folder =
      std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", dir_fd), error);
  if (error || folder.empty() || folder[0] != '/') {
    return absl::FailedPreconditionError("the path of a folder cannot be told without /proc");
  }
  const std::string path = absl::StrCat(folder == "/" ? "" : folder, "/", name);
  for (const std::string& point :
       MountsBelow(launcher::ReadSmallFile("/proc/self/mountinfo"), path)) {
    // Detached: a process that still is in there keeps it for itself, and does not hold us up.
    if (umount2(point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
    if (errno == EINVAL || errno == ENOENT) continue;  // gone with the one above it
    return absl::FailedPreconditionError(absl::StrCat("unmount ", ShowText(point, kShown), ": ",
                                                      strerror(errno),
                                                      ": run umount on it as who may"));
  }
  return absl::OkStatus();
}

}  // namespace berth::reaper
