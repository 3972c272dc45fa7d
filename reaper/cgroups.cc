#include "reaper/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/record/identity.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/proc.h"

namespace berth::reaper {
namespace {

constexpr int kMaxDepth = 64;
constexpr absl::string_view kPrefix = "berth-";
// Of a launcher that starts ssh for a program's connections (runtime/docker/ssh_connection.h): it
// belongs to the program, whatever state directories that has.
constexpr absl::string_view kOfNoInstall = "ssh";

void Walk(int dir_fd, const std::string& path, int depth, std::vector<FoundCgroup>* found) {
  DIR* dir = fdopendir(dir_fd);
  if (dir == nullptr) {
    close(dir_fd);
    return;
  }
  while (const dirent* entry = readdir(dir)) {
    const std::string name = entry->d_name;
    if (entry->d_type != DT_DIR || name[0] == '.') continue;
    struct stat info;
    if (fstatat(dirfd(dir), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const std::string below = absl::StrCat(path, "/", name);
    if (absl::StartsWith(name, kPrefix)) found->push_back({below, name, info.st_uid});
    // One link for each group in it, besides its own two.
    if (info.st_nlink <= 2 || depth == 0) continue;
    const int sub =
        openat(dirfd(dir), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sub >= 0) Walk(sub, below, depth - 1, found);
  }
  closedir(dir);
}

}  // namespace

std::vector<FoundCgroup> FindCgroups() {
  std::vector<FoundCgroup> found;
  const std::string mounts = launcher::ReadSmallFile("/proc/self/mountinfo");
  for (const absl::string_view line : absl::StrSplit(mounts, '\n')) {
    if (!absl::StrContains(line, " - cgroup2 ")) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (fields.size() < 5) continue;
    const std::string& root = fields[3];  // a container may see only a part of the tree
    const int dir = open(fields[4].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) Walk(dir, root == "/" ? "" : root, kMaxDepth, &found);
    break;
  }
  return found;
}

Identity LauncherOf(absl::string_view name, absl::string_view install_id,
                    const std::string& boot_id) {
  if (!absl::ConsumePrefix(&name, kPrefix)) return {};
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
  Identity launcher;
  if (parts.size() != 4 || install_id.empty() ||
      (parts[0] != install_id && parts[0] != kOfNoInstall) ||
      !absl::SimpleAtoi(parts[1], &launcher.pid) ||
      !absl::SimpleAtoi(parts[2], &launcher.start_time) ||
      !absl::SimpleAtoi(parts[3], &launcher.pid_namespace) || launcher.pid < 2) {
    return {};
  }
  launcher.boot_id = boot_id;
  return launcher;
}

bool IsHeld(const FoundCgroup& group) {
  const launcher::Cgroup open = launcher::Cgroup::Open(group.path);
  if (!open.ok()) return false;
  // Let go again when `open` is closed.
  return flock(open.dir_fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace berth::reaper
