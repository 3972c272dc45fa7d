// Groups of the cgroup v2 tree that hold workloads, so that their processes can be found, counted
// and killed whatever they do. No controller is needed: only membership, cgroup.events and
// cgroup.kill.
#ifndef BERTH_SANDBOX_LAUNCHER_CGROUP_H_
#define BERTH_SANDBOX_LAUNCHER_CGROUP_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/layout.h"

namespace berth::launcher {

// One group and what is below it. Removed by Remove, not by its destructor. Not ok() where it could
// not be made.
class Cgroup {
 public:
  Cgroup() = default;
  // The group that this process is in.
  static Cgroup Own();
  // Where groups that can be limited are made: this process's own, or the nearest above it whose
  // children have the controllers that are in no v1 hierarchy. Own, if there is none.
  static Cgroup Home();
  static Cgroup Home(const cgroups::Layout& layout);
  // Any that exists, to make children of: it cannot be removed.
  static Cgroup OpenAny(const std::string& path);
  // One that exists, by its path as /proc/PID/cgroup gives it. Not ok() if it does not, or is no
  // child of another.
  static Cgroup Open(const std::string& path);
  Cgroup MakeChild(const std::string& name) const;
  // Lets its children be limited too. It must have no processes of its own.
  void ShareControllers(const cgroups::Layout& layout) const;

  bool ok() const { return dir_.ok(); }
  int dir_fd() const { return dir_.get(); }
  // poll for POLLPRI: Empty may have changed.
  int events_fd() const { return events_.get(); }
  // As /proc/PID/cgroup gives it.
  const std::string& path() const { return path_; }

  // The processes there are now, in it and in its children.
  std::vector<pid_t> Processes() const;
  // CPU time of all that have ever been in it, or -1.
  int64_t CpuNs() const;
  // No living process is in it or below (a zombie does not count).
  bool Empty() const;
  // Stops all in it and below where they are, or lets them go on; false if the kernel cannot
  // (before 5.2). events_fd tells when Frozen has changed.
  bool Freeze(bool frozen) const;
  bool Frozen() const;
  // SIGKILL to all in it and below, at once and without a race where the kernel has cgroup.kill
  // (5.14); before that, call it again until Empty.
  void Kill() const;
  // To each process there is now, in it and in its children.
  void Signal(int signal) const;
  // Removes it and its children. False if it is not empty yet.
  bool Remove();

 private:
  static Cgroup At(const cgroups::Layout& layout, const std::string& path);
  static Cgroup OpenChild(const Cgroup& parent, const std::string& name);
  bool Holds(int pid) const;
  UniqueFd parent_, dir_, events_;
  std::string name_, path_;
};

// The group of a process, "/a/b". Empty if there is no v2 tree or no such process.
std::string CgroupOf(int pid);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_CGROUP_H_
