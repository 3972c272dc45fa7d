#include "sandbox/cgroups/limit_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "sandbox/cgroups/file.h"

namespace berth::cgroups {
namespace {

// Of CPU time: shorter ones cost more switches, longer ones make a limited program stutter.
constexpr int64_t kPeriodUs = 100000;
// The kernel's own least: 1 ms of each period.
constexpr int64_t kLeastQuotaUs = 1000;

std::string QuotaUs(int64_t cpu_millis) {
  const int64_t quota = cpu_millis * (kPeriodUs / 1000);
  return std::to_string(quota < kLeastQuotaUs ? kLeastQuotaUs : quota);
}

UniqueFd OpenAt(int dir, const char* name, int flags) {
  return UniqueFd(openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW));
}

int64_t Read(int dir, const char* name) {
  std::string text;
  return dir >= 0 && ReadFileAt(dir, name, &text) == 0 ? NumberIn(text, "") : -1;
}

int64_t Count(const UniqueFd& file, const char* key) {
  std::string text;
  if (!file.ok() || ReadAgain(file.get(), &text) != 0) return 0;
  const int64_t count = NumberIn(text, key);
  return count > 0 ? count : 0;
}

}  // namespace

uint8_t GroupLimits::controllers() const {
  uint8_t set = 0;
  if (memory_bytes >= 0 || swap_bytes >= 0) set |= Bit(Controller::kMemory);
  if (pids >= 0) set |= Bit(Controller::kPids);
  if (cpu_millis >= 0) set |= Bit(Controller::kCpu);
  return set;
}

LimitGroup::Error LimitGroup::MakePart(const Layout& layout, int tree, const std::string& name,
                                       Controller controller) {
  Part& made = parts_[static_cast<int>(controller)];
  const Hierarchy& hierarchy = layout.V1(controller);
  if (!hierarchy.mounted()) {
    if (tree < 0) {
      return {EOPNOTSUPP, std::string("limit ") + ControllerName(controller) +
                              ": no cgroup hierarchy that this user may use has its controller"};
    }
    made.at = tree;
    return {};
  }
  const std::string path = hierarchy.point + "/" + name;
  // Must be new: a group of this name that is there already may have others in it.
  if (mkdir(path.c_str(), 0755) != 0) return {errno, "make group '" + path + "'"};
  made.path = path;
  made.dir = OpenAt(AT_FDCWD, path.c_str(), O_DIRECTORY);
  made.at = made.dir.get();
  if (!made.dir.ok()) return {errno, "open group '" + path + "'"};
  made.tasks = OpenAt(made.at, "tasks", O_WRONLY);
  if (!made.tasks.ok()) return {errno, "open the tasks of group '" + path + "'"};
  enter_fds_.push_back(made.tasks.get());
  return {};
}

int LimitGroup::SetMemory(const Part& part, const GroupLimits& limits, bool v1) const {
  int error = 0;
  if (limits.memory_bytes >= 0) {
    error = WriteFileAt(part.at, v1 ? "memory.limit_in_bytes" : "memory.max",
                        std::to_string(limits.memory_bytes));
  }
  if (error != 0 || limits.swap_bytes < 0) return error;
  if (!v1) return WriteFileAt(part.at, "memory.swap.max", std::to_string(limits.swap_bytes));
  // v1 knows the sum only.
  if (limits.memory_bytes < 0) return EINVAL;
  return WriteFileAt(part.at, "memory.memsw.limit_in_bytes",
                     std::to_string(limits.memory_bytes + limits.swap_bytes));
}

int LimitGroup::SetCpu(const Part& part, const GroupLimits& limits, bool v1) const {
  const std::string period = std::to_string(kPeriodUs), quota = QuotaUs(limits.cpu_millis);
  if (!v1) return WriteFileAt(part.at, "cpu.max", quota + " " + period);
  if (const int error = WriteFileAt(part.at, "cpu.cfs_period_us", period)) return error;
  return WriteFileAt(part.at, "cpu.cfs_quota_us", quota);
}

int LimitGroup::WatchMemory(Part* part, bool v1) const {
  part->events = OpenAt(part->at, v1 ? "memory.oom_control" : "memory.events", O_RDONLY);
  if (!part->events.ok()) return errno;
  if (!v1) return 0;
  // v1 tells of an OOM by an eventfd that is registered for it.
  part->notices = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!part->notices.ok()) return errno;
  return WriteFileAt(
      part->at, "cgroup.event_control",
      std::to_string(part->notices.get()) + " " + std::to_string(part->events.get()));
}

LimitGroup::Error LimitGroup::Make(const Layout& layout, int tree, const std::string& name,
                                   const GroupLimits& limits) {
  Error error;
  for (const Controller controller : kAllControllers) {
    if ((limits.controllers() & Bit(controller)) == 0) continue;
    const bool v1 = layout.V1(controller).mounted();
    error = MakePart(layout, tree, name, controller);
    if (error.error != 0) break;
    Part* part = &parts_[static_cast<int>(controller)];
    switch (controller) {
      case Controller::kMemory:
        error.error = SetMemory(*part, limits, v1);
        if (error.error == 0) error.error = WatchMemory(part, v1);
        break;
      case Controller::kPids:
        error.error = WriteFileAt(part->at, "pids.max", std::to_string(limits.pids));
        part->events = OpenAt(part->at, "pids.events", O_RDONLY);
        break;
      case Controller::kCpu:
        error.error = SetCpu(*part, limits, v1);
        break;
    }
    if (error.error != 0) {
      error.what = std::string("limit ") + ControllerName(controller);
      break;
    }
  }
  made_ = error.error == 0;
  if (!made_) Remove();
  return error;
}

bool LimitGroup::separate() const {
  for (const Part& each : parts_) {
    if (each.at >= 0 && !each.dir.ok()) return false;
  }
  return made_;
}

void LimitGroup::AppendPoll(std::vector<pollfd>* fds, bool forks) const {
  const Part& memory = part(Controller::kMemory);
  if (memory.notices.ok()) {
    fds->push_back({memory.notices.get(), POLLIN, 0});
  } else if (memory.events.ok()) {
    fds->push_back({memory.events.get(), POLLPRI, 0});
  }
  if (forks && part(Controller::kPids).events.ok()) {
    fds->push_back({part(Controller::kPids).events.get(), POLLPRI, 0});
  }
}

void LimitGroup::Acknowledge() const {
  uint64_t count;
  if (part(Controller::kMemory).notices.ok()) {
    [[maybe_unused]] const ssize_t n =
        read(part(Controller::kMemory).notices.get(), &count, sizeof(count));
  }
  // The files tell of changes since they were last read, which the counts below do.
}

int64_t LimitGroup::OomKills() const { return Count(part(Controller::kMemory).events, "oom_kill"); }

int64_t LimitGroup::RefusedForks() const { return Count(part(Controller::kPids).events, "max"); }

int64_t LimitGroup::MemoryBytes() const {
  const Part& memory = part(Controller::kMemory);
  return Read(memory.at, memory.dir.ok() ? "memory.usage_in_bytes" : "memory.current");
}

int64_t LimitGroup::Pids() const { return Read(part(Controller::kPids).at, "pids.current"); }

int LimitGroup::Remove() {
  int result = 0;
  for (Part& part : parts_) {
    if (!part.path.empty() && rmdir(part.path.c_str()) != 0 && errno != ENOENT) {
      result = errno;
      continue;
    }
    part = Part();
  }
  enter_fds_.clear();
  if (result == 0) made_ = false;
  return result;
}

int EnterGroups(const int* fds, int count) {
  for (int i = 0; i < count; ++i) {
    ssize_t n;
    while ((n = write(fds[i], "0", 1)) < 0 && errno == EINTR) {
    }
    if (n != 1) return n < 0 ? errno : EIO;
  }
  return 0;
}

}  // namespace berth::cgroups
