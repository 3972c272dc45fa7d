#include "runtime/agent/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "re2/re2.h"
#include "runtime/record/random_id.h"
#include "runtime/record/session_name.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr char kFolder[] = "agents";
constexpr absl::string_view kSuffix = ".jsonl";
constexpr size_t kStampLength = 25;  // "-20260131T235959.123-1a2b"

}  // namespace

absl::StatusOr<UniqueFd> OpenRunsFolder(const std::string& state_dir) {
  ABSL_ASSIGN_OR_RETURN(const StateDir dir, StateDir::Open(state_dir));
  if (mkdirat(dir.root_fd(), kFolder, 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("make '", dir.path(), "/", kFolder, "'"));
  }
  UniqueFd folder(openat(dir.root_fd(), kFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.ok()) {
    return ErrnoStatus(errno, absl::StrCat("open '", dir.path(), "/", kFolder, "'"));
  }
  struct stat info;
  if (fstat(folder.get(), &info) != 0) return ErrnoStatus(errno, "stat the folder of runs");
  if (info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", dir.path(), "/", kFolder, "' can be written by others: remove it"));
  }
  return folder;
}

absl::StatusOr<std::string> NewRunId(absl::string_view name, absl::Time now) {
  ABSL_RETURN_IF_ERROR(CheckSessionName(name));
  ABSL_ASSIGN_OR_RETURN(const std::string random, RandomHexId());
  return absl::StrCat(name, absl::FormatTime("-%Y%m%d%ET%H%M%E3S-", now, absl::UTCTimeZone()),
                      random.substr(0, 4));
}

absl::string_view NameOfRun(absl::string_view run_id) {
  static const RE2* const stamp = new RE2("-[0-9]{8}T[0-9]{6}[.][0-9]{3}-[0-9a-f]{4}");
  if (run_id.size() <= kStampLength) return "";
  const absl::string_view name = run_id.substr(0, run_id.size() - kStampLength);
  if (!RE2::FullMatch(run_id.substr(name.size()), *stamp)) return "";
  return CheckSessionName(name).ok() ? name : "";
}

std::string RunFileName(absl::string_view run_id) { return absl::StrCat(run_id, kSuffix); }

absl::StatusOr<std::vector<std::string>> ListRunIds(int folder) {
  // A description of its own: reading moves its position.
  const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open the folder of runs");
  DIR* const dir = fdopendir(fd);
  if (dir == nullptr) {
    const int error = errno;
    close(fd);
    return ErrnoStatus(error, "read the folder of runs");
  }
  std::vector<std::string> ids;
  while (const dirent* const entry = readdir(dir)) {
    absl::string_view name = entry->d_name;
    if (!absl::EndsWith(name, kSuffix)) continue;
    name.remove_suffix(kSuffix.size());
    if (!NameOfRun(name).empty()) ids.emplace_back(name);
  }
  closedir(dir);
  std::sort(ids.begin(), ids.end(), [](const std::string& a, const std::string& b) {
    const auto stamp = [](const std::string& id) { return id.substr(id.size() - kStampLength); };
    return std::pair(stamp(a), a) < std::pair(stamp(b), b);
  });
  return ids;
}

}  // namespace berth
