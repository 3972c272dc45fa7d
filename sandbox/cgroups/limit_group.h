// LimitGroup: the limits of one tree of processes, and what is known of it by them.
//
// Each limit is set where its controller is: in the tree's own group of the v2 tree, or in a group
// that is made for it at the top of the controller's v1 hierarchy. Both carry one name,
// "berth-<uid>" for a session: so whoever has a session's record finds all of its groups, and
// RemoveV1Groups removes those that a killed helper left. (At the top, not below our own: groups
// that exist belong to those who manage them. A container sees its own group as the top.)
//
// How processes get in, before their first instruction: into the v2 group by CLONE_INTO_CGROUP;
// into v1 groups by themselves, between clone and exec, by writing "0" to each of enter_fds
// (EnterGroups). A thread that moves itself by `tasks` needs no lock of the kernel's that waits for
// all CPUs, as `cgroup.procs` does: 0.1 ms instead of 10, with no process of ours kept in the
// groups to fork from.
//
// Used by the helper: no Abseil, no exceptions; errnos. Not thread-safe. libcgroup is not used
// here: in a v2 tree it writes the subtree_control of every group from the root down (refused in a
// tree that was delegated to a user, and not ours to change), it gives no descriptors to clone into
// or to wait on, and the distributions' archives need libsystemd, which a static helper cannot
// have. The tests read back through it what was set.
#ifndef BERTH_SANDBOX_CGROUPS_LIMIT_GROUP_H_
#define BERTH_SANDBOX_CGROUPS_LIMIT_GROUP_H_

#include <poll.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/layout.h"

namespace berth::cgroups {

// Negative: no limit.
struct GroupLimits {
  int64_t memory_bytes = -1;
  int64_t swap_bytes = -1;  // besides memory_bytes
  int64_t pids = -1;        // processes and threads
  int64_t cpu_millis = -1;  // 1500 is one and a half cores

  // The controllers that these need, as a set of Bit.
  uint8_t controllers() const;
  friend bool operator==(const GroupLimits&, const GroupLimits&) = default;
};

class LimitGroup {
 public:
  struct Error {
    int error = 0;
    std::string what;  // "limit memory", "make group '…'"
  };

  LimitGroup() = default;
  LimitGroup(LimitGroup&&) = default;
  LimitGroup& operator=(LimitGroup&&) = default;

  // `tree`: the directory of the tree's v2 group, made where PlaceFor said; -1 if there is none. It
  // must outlive this. All of `limits` hold after it, or none is left made.
  Error Make(const Layout& layout, int tree, const std::string& name, const GroupLimits& limits);
  bool ok() const { return made_; }
  // All of it is in groups that were made for it: it can hold another tree once this one is gone.
  bool separate() const;

  // For EnterGroups in the child. Empty where all is v2.
  const std::vector<int>& enter_fds() const { return enter_fds_; }

  // What to wait on, to look at the counts below again. A bomb has forks refused as fast as it can
  // try: who knows of one need not hear of each.
  void AppendPoll(std::vector<pollfd>* fds, bool forks = true) const;
  // Makes ready what AppendPoll waits on for the next event. Call before looking.
  void Acknowledge() const;
  // How many processes the memory limit has killed, and how often a fork was refused.
  int64_t OomKills() const;
  int64_t RefusedForks() const;

  // What is used now; -1: not known, as there is no limit on it.
  int64_t MemoryBytes() const;
  int64_t Pids() const;

  // Once the tree is empty. 0 or an errno: EBUSY if it is not. The v2 group is its owner's to
  // remove.
  int Remove();

 private:
  struct Part {
    UniqueFd dir;  // only if it is a v1 group
    std::string path;
    int at = -1;  // the directory that has the controller's files
    UniqueFd tasks, events, notices;
  };
  Error MakePart(const Layout& layout, int tree, const std::string& name, Controller controller);
  int SetMemory(const Part& part, const GroupLimits& limits, bool v1) const;
  int SetCpu(const Part& part, const GroupLimits& limits, bool v1) const;
  int WatchMemory(Part* part, bool v1) const;
  const Part& part(Controller controller) const { return parts_[static_cast<int>(controller)]; }

  Part parts_[kControllers];
  std::vector<int> enter_fds_;
  bool made_ = false;
};

// Puts the calling thread into the groups; 0 or an errno. No heap, no locks: for a child between
// clone and exec, which must have one thread.
int EnterGroups(const int* fds, int count);

// Removes the v1 groups called `name` and those called `name`-p1, -p2, … (of a helper's single
// programs), and ends what is in them. For the remains of a helper that
// was killed: 0, or the first errno. The caller has to know that the name is its own.
int RemoveV1Groups(const Layout& layout, const std::string& name);

}  // namespace berth::cgroups

#endif  // BERTH_SANDBOX_CGROUPS_LIMIT_GROUP_H_
