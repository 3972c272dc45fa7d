#include "sandbox/launcher/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/tree_place.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"

namespace berth::launcher {
namespace {

UniqueFd OpenAt(int dir, const char* name, int flags) {
  return UniqueFd(openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW));
}

}  // namespace

std::string CgroupOf(int pid) {
  const std::string text = ReadSmallFile(("/proc/" + std::to_string(pid) + "/cgroup").c_str());
  size_t at = text.rfind("0::", 0) == 0 ? 0 : text.find("\n0::");
  if (at == std::string::npos) return "";
  at = text.find('/', at);
  if (at == std::string::npos) return "";
  return text.substr(at, text.find('\n', at) - at);
}

Cgroup Cgroup::At(const cgroups::Layout& layout, const std::string& path) {
  // The mount may show only a part of the tree (a container); a group outside of it cannot be
  // reached.
  const std::string directory = layout.v2.Directory(path);
  Cgroup group;
  if (directory.empty()) return group;
  group.dir_ = UniqueFd(open(directory.c_str(), O_DIRECTORY | O_CLOEXEC));
  group.path_ = path == "/" ? "" : path;
  return group;
}

Cgroup Cgroup::OpenAny(const std::string& path) { return At(cgroups::Layout::Read(), path); }

Cgroup Cgroup::Own() { return OpenAny(CgroupOf(getpid())); }

Cgroup Cgroup::Home() { return Home(cgroups::Layout::Read()); }

Cgroup Cgroup::Home(const cgroups::Layout& layout) {
  const uint8_t wanted = layout.NotInV1(cgroups::kEveryController);
  std::string place = cgroups::PlaceFor(layout, wanted, /*probe=*/false, nullptr);
  if (place.empty()) place = layout.v2.own;
  return At(layout, place);
}

void Cgroup::ShareControllers(const cgroups::Layout& layout) const {
  const uint8_t wanted = layout.NotInV1(cgroups::kEveryController);
  if (ok() && wanted != 0) cgroups::GiveControllers(dir_.get(), wanted);
}

Cgroup Cgroup::Open(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size()) return {};
  const Cgroup parent = OpenAny(slash == 0 ? "/" : path.substr(0, slash));
  return parent.ok() ? OpenChild(parent, path.substr(slash + 1)) : Cgroup();
}

Cgroup Cgroup::OpenChild(const Cgroup& parent, const std::string& name) {
  Cgroup group;
  UniqueFd dir = OpenAt(parent.dir_.get(), name.c_str(), O_DIRECTORY);
  UniqueFd events = dir.ok() ? OpenAt(dir.get(), "cgroup.events", O_RDONLY) : UniqueFd();
  UniqueFd up(fcntl(parent.dir_.get(), F_DUPFD_CLOEXEC, 3));
  if (!events.ok() || !up.ok()) return group;
  group.parent_ = std::move(up);
  group.dir_ = std::move(dir);
  group.events_ = std::move(events);
  group.name_ = name;
  group.path_ = parent.path_ + "/" + name;
  return group;
}

Cgroup Cgroup::MakeChild(const std::string& name) const {
  if (!ok() || mkdirat(dir_.get(), name.c_str(), 0755) != 0) return {};
  Cgroup group = OpenChild(*this, name);
  if (!group.ok()) unlinkat(dir_.get(), name.c_str(), AT_REMOVEDIR);
  return group;
}

namespace {

std::vector<std::string> ChildNames(int dir) {
  std::vector<std::string> names;
  DIR* list = fdopendir(openat(dir, ".", O_DIRECTORY | O_CLOEXEC));
  if (list == nullptr) return names;
  while (const dirent* entry = readdir(list)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(list);
  return names;
}

}  // namespace

bool Cgroup::Empty() const {
  char text[256];
  const ssize_t n = pread(events_.get(), text, sizeof(text) - 1, 0);
  if (n < 0) return errno == ENODEV;  // removed
  text[n] = '\0';
  return strstr(text, "populated 0") != nullptr;
}

bool Cgroup::Freeze(bool frozen) const {
  const UniqueFd file = OpenAt(dir_.get(), "cgroup.freeze", O_WRONLY);
  return file.ok() && write(file.get(), frozen ? "1" : "0", 1) == 1;
}

bool Cgroup::Frozen() const {
  char text[256];
  const ssize_t n = pread(events_.get(), text, sizeof(text) - 1, 0);
  if (n < 0) return false;
  text[n] = '\0';
  return strstr(text, "frozen 1") != nullptr;
}

void Cgroup::Kill() const {
  const UniqueFd kill = OpenAt(dir_.get(), "cgroup.kill", O_WRONLY);
  if (kill.ok() && write(kill.get(), "1", 1) == 1) return;
  Signal(SIGKILL);
}

bool Cgroup::Holds(int pid) const {
  const std::string group = CgroupOf(pid);
  return group.compare(0, path_.size(), path_) == 0 &&
         (group.size() == path_.size() || group[path_.size()] == '/');
}

std::vector<pid_t> Cgroup::Processes() const {
  std::vector<pid_t> pids;
  const UniqueFd procs = OpenAt(dir_.get(), "cgroup.procs", O_RDONLY);
  const std::string text = ReadAllFrom(procs.get());
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end;
    const long pid = strtol(at, &end, 10);
    if (end == at) break;
    at = *end == '\n' ? end + 1 : end;
    if (pid > 1)
      pids.push_back(static_cast<pid_t>(pid));  // 0: a process that this pid namespace does not see
  }
  for (const std::string& name : ChildNames(dir_.get())) {
    const Cgroup child = OpenChild(*this, name);
    if (!child.ok()) continue;
    const std::vector<pid_t> below = child.Processes();
    pids.insert(pids.end(), below.begin(), below.end());
  }
  return pids;
}

int64_t Cgroup::CpuNs() const {
  const UniqueFd stat = OpenAt(dir_.get(), "cpu.stat", O_RDONLY);  // there without any controller
  if (!stat.ok()) return -1;
  const std::string text = ReadAllFrom(stat.get());
  constexpr std::string_view kUsage = "usage_usec ";
  if (text.compare(0, kUsage.size(), kUsage) != 0) return -1;
  return strtoll(text.c_str() + kUsage.size(), nullptr, 10) * 1000;
}

void Cgroup::Signal(int signal) const {
  for (const pid_t pid : Processes()) {
    const UniqueFd pidfd(PidfdOpen(pid));
    // Asked after the pidfd was opened: a number that has gone to a stranger since is not in this
    // group.
    if (pidfd.ok() && Holds(pid)) PidfdSignal(pidfd.get(), signal);
  }
}

bool Cgroup::Remove() {
  if (!ok()) return true;
  for (const std::string& name : ChildNames(dir_.get())) {
    Cgroup child = OpenChild(*this, name);
    if (!child.Remove()) return false;
  }
  if (unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return false;
  *this = Cgroup();
  return true;
}

}  // namespace berth::launcher
