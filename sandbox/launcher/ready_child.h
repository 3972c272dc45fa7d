// ReadyChild: a child that has done what it can before it is known what to run.
//
// Most of what passes between clone and exec is the same for every program of a plan: giving up
// capabilities one by one, limits, Landlock, and above all the filter, which the kernel compiles
// for each process. A ready child has done it and waits, confined, for the rest: its streams, its
// directory and what to execute. It shares its parent's memory, as after vfork, so nothing is
// copied for it and nothing is taken apart at exec. While it prepares itself the parent may do
// other things (its errno stays its own, if the plan has no Landlock); once it is to run, the
// parent sleeps. Used once. It dies with its parent.
#ifndef BERTH_SANDBOX_LAUNCHER_READY_CHILD_H_
#define BERTH_SANDBOX_LAUNCHER_READY_CHILD_H_

#include <sys/types.h>

#include <memory>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/child.h"

namespace berth::launcher {

class ReadyChild {
 public:
  // Whether one can be made for that plan: what is left to do must be allowed by its filter.
  static bool Fits(const SandboxPlan& plan) { return plan.ready_child; }

  // Starts one, in the cgroup `cgroup_fd` if that is not -1, with all that `plan` says but its
  // streams, directory and program. Null with plan->error.
  static std::unique_ptr<ReadyChild> Start(ChildPlan* plan, int cgroup_fd);
  // Returns once it waits. False with *failure; it is reaped then.
  bool Await(Failure* failure);
  // Ends one that was not run. Returns its pidfd: it is still to be reaped.
  UniqueFd End();
  ~ReadyChild() { End(); }

  pid_t pid() const { return pid_; }
  // False if it was ended meanwhile.
  bool waits() const { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE) == kWaits; }

  // Has it run what `plan` says (in a session of its own only if the first plan did), once it is
  // ready, and waits until it executes that.
  // Returns its pidfd, or -1 with *failure: then it is reaped.
  int Run(const ChildPlan& plan, Failure* failure);

 private:
  // In one word, for which both sides wait. The kernel sets it to 0, and says so, when the child
  // leaves this memory: by exec or by its end.
  enum State : int { kLeft = 0, kPrepares = 1, kWaits = 2, kRuns = 3 };

  ReadyChild() = default;
  [[noreturn]] static void Main(void* self);
  void AwaitChange(State from);
  bool Advance(int from, State to);
  bool Failed(Failure* failure);

  ChildPlan plan_;
  int state_ = kPrepares;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  alignas(16) char stack_[64 << 10];
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_READY_CHILD_H_
