#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/file.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"

namespace berth::cgroups {
namespace {

constexpr int kKillMs = 10000;

bool IsIn(const std::string& path, int64_t pid) {
  std::string members;
  if (ReadFileAt(-1, (path + "/cgroup.procs").c_str(), &members) != 0) return false;
  return HasWord(members, std::to_string(pid));
}

// Kills one process of the group and waits for its end. 0, or an errno.
int KillOne(const std::string& path, int64_t pid) {
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Asked after the pidfd was opened: a number that went to a stranger since is not in there.
  if (!pidfd.ok() || !IsIn(path, pid)) return 0;
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH) {
    return errno;
  }
  pollfd wait{pidfd.get(), POLLIN, 0};
  int n;
  while ((n = poll(&wait, 1, kKillMs)) < 0 && errno == EINTR) {
  }
  return n > 0 ? 0 : ETIMEDOUT;
}

// Ends all that is in the group. A process that forks while its parent is killed is found by the
// next look; processes are fewer each time only if they cannot fork at will, so this is for what a
// kill of the v2 group left, where there is one.
int Empty(const std::string& path) {
  while (true) {
    std::string members;
    const int error = ReadFileAt(-1, (path + "/cgroup.procs").c_str(), &members);
    if (error != 0) return error == ENOENT || error == ENODEV ? 0 : error;
    const int64_t pid = NumberIn(members, "");
    if (pid <= 0) return 0;  // nobody, or one that this pid namespace does not see
    if (const int failed = KillOne(path, pid)) return failed;
  }
}

// `name`, or `name`-p and a number.
bool IsOf(std::string_view entry, std::string_view name) {
  if (entry.substr(0, name.size()) != name) return false;
  entry.remove_prefix(name.size());
  if (entry.empty()) return true;
  return entry.size() > 2 && entry.substr(0, 2) == "-p" &&
         entry.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

std::vector<std::string> GroupsOf(const std::string& point, const std::string& name) {
  std::vector<std::string> paths;
  DIR* list = opendir(point.c_str());
  if (list == nullptr) return paths;
  while (const dirent* entry = readdir(list)) {
    if (IsOf(entry->d_name, name)) paths.push_back(point + "/" + entry->d_name);
  }
  closedir(list);
  return paths;
}

}  // namespace

int RemoveV1Groups(const Layout& layout, const std::string& name) {
  int result = 0;
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.') return EINVAL;
  for (const Controller controller : kAllControllers) {
    const Hierarchy& hierarchy = layout.V1(controller);
    if (!hierarchy.mounted()) continue;
    for (const std::string& path : GroupsOf(hierarchy.point, name)) {
      int error = Empty(path);
      if (error == 0 && rmdir(path.c_str()) != 0 && errno != ENOENT) error = errno;
      if (result == 0) result = error;
    }
  }
  return result;
}

}  // namespace berth::cgroups
