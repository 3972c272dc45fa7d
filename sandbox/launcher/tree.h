// Tree: all processes of one workload, held so that neither setsid, nor a double fork, nor an
// ignored signal gets one away. By a cgroup where one may be made; otherwise this process is their
// subreaper and they are its descendants.
#ifndef BERTH_SANDBOX_LAUNCHER_TREE_H_
#define BERTH_SANDBOX_LAUNCHER_TREE_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/protocol.h"

namespace berth::launcher {

class Tree {
 public:
  // Of a cgroup; or, if the leaf is not ok(), of this process's descendants (it becomes a
  // subreaper).
  explicit Tree(Cgroup leaf);

  TreeKind kind() const { return leaf_.ok() ? TreeKind::kCgroup : TreeKind::kSubreaper; }
  const std::string& cgroup_path() const { return leaf_.path(); }
  int cgroup_fd() const { return leaf_.dir_fd(); }
  // poll for POLLPRI while waiting for Empty; -1: SIGCHLD tells.
  int events_fd() const { return leaf_.events_fd(); }

  // To every member. TERM to one that is stopped takes effect at once: CONT follows. Of
  // descendants, those that are or are below `except` are left alone: supervisors, which end trees
  // of their own.
  void Signal(int signal, const std::vector<pid_t>& except = {}) const;
  // One pass of KILL. Call again, at each event, until Empty.
  void Kill(const std::vector<pid_t>& except = {}) const;
  bool Empty() const;
  // After Empty.
  void Remove() { leaf_.Remove(); }
  // Gives the group back for the next workload.
  Cgroup TakeLeaf() { return std::move(leaf_); }

 private:
  Cgroup leaf_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_TREE_H_
