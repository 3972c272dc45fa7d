#include "sandbox/launcher/ready_child.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <iterator>
#include <memory>
#include <utility>

#include "sandbox/launcher/kernel.h"

namespace berth::launcher {

// Raw calls, here and in Advance: the other side may be running, with the same errno. Not the
// private kind, since the kernel's own wake-up is not.
void ReadyChild::AwaitChange(State from) {
  while (__atomic_load_n(&state_, __ATOMIC_ACQUIRE) == from) {
    RawCall(SYS_futex, RawPointer(&state_), FUTEX_WAIT, from);
  }
}

// In one step: who has seen the new state may be gone, and have set the next, before the wake-up.
bool ReadyChild::Advance(int from, State to) {
  if (!__atomic_compare_exchange_n(&state_, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return false;
  }
  RawCall(SYS_futex, RawPointer(&state_), FUTEX_WAKE, 1);
  return true;
}

void ReadyChild::Main(void* self) {
  ReadyChild* child = static_cast<ReadyChild*>(self);
  PrepareChild(&child->plan_);
  child->Advance(kPrepares, kWaits);
  child->AwaitChange(kWaits);
  FinishChild(&child->plan_);
}

std::unique_ptr<ReadyChild> ReadyChild::Start(ChildPlan* plan, int cgroup_fd) {
  std::unique_ptr<ReadyChild> child(new ReadyChild);
  child->plan_ = *plan;
  clone_args args{};
  int pidfd = -1;
  args.flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_CHILD_CLEARTID;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.child_tid = reinterpret_cast<uint64_t>(&child->state_);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uint64_t>(child->stack_);
  args.stack_size = sizeof(child->stack_);
  if (cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  const long pid = CloneBeside(&args, &ReadyChild::Main, child.get());
  if (pid < 0) {
    plan->error = {Step::kClone, static_cast<int>(-pid)};
    child->state_ = kLeft;
    return nullptr;
  }
  child->pid_ = static_cast<pid_t>(pid);
  child->pidfd_.reset(pidfd);
  return child;
}

bool ReadyChild::Failed(Failure* failure) {
  *failure = plan_.error.ok() ? Failure{Step::kClone, ESRCH} : plan_.error;  // or it was killed
  waitpid(pid_, nullptr, 0);
  return false;
}

bool ReadyChild::Await(Failure* failure) {
  AwaitChange(kPrepares);
  return waits() || Failed(failure);
}

UniqueFd ReadyChild::End() {
  if (__atomic_load_n(&state_, __ATOMIC_ACQUIRE) != kLeft) {
    PidfdSignal(pidfd_.get(), SIGKILL);
    // It is on a stack of ours.
    for (const State state : {kPrepares, kWaits}) AwaitChange(state);
  }
  return std::move(pidfd_);
}

int ReadyChild::Run(const ChildPlan& plan, Failure* failure) {
  if (!Await(failure)) return -1;
  for (size_t i = 0; i < std::size(plan_.stdio); ++i) plan_.stdio[i] = plan.stdio[i];
  plan_.cwd = plan.cwd;
  plan_.cwd_fd = plan.cwd_fd;
  plan_.argv = plan.argv;
  plan_.env = plan.env;
  plan_.shares_files = plan.shares_files;
  // False if it was killed meanwhile.
  const bool runs = Advance(kWaits, kRuns);
  AwaitChange(kRuns);
  if (runs && plan_.error.ok()) return pidfd_.release();
  Failed(failure);
  return -1;
}

}  // namespace berth::launcher
