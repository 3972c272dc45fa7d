// Enclosure: a sandboxed program as its helper holds it. The helper's side of init.h.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_ENCLOSURE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_ENCLOSURE_H_

#include <sys/types.h>

#include <memory>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/placeholder.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/fd_slots.h"

namespace berth::launcher {

struct InitPlan;

class Enclosure {
 public:
  Enclosure() = default;
  Enclosure(Enclosure&&) = default;
  Enclosure& operator=(Enclosure&&) = default;
  ~Enclosure() { Release(); }

  // Takes the two ends of what it reports by, made ahead. Otherwise it makes them itself.
  void Equip(UniqueFd ours, UniqueFd theirs);

  // Once nothing of the sandbox runs any more: removes what had to be made on the host.
  void Release();

  // Starts an init for `child`, which has a sandbox of a tier with namespaces, in that cgroup if it
  // is not -1. With `joins` (another's, see namespaces()) the program comes into that sandbox
  // instead of a new one. Returns init's pid and *pidfd, or -1 with child->error. The program
  // itself is started once the gate, if there is one, is open.
  pid_t Start(ChildPlan* child, int cgroup_fd, bool keeps_namespaces, const Enclosure* joins,
              int* pidfd);
  // Starts one that prepares what it can for that plan and then waits to be given a program. Takes
  // from `child` its sandbox and the groups that it is to enter.
  pid_t Park(ChildPlan* child, int cgroup_fd, int* pidfd);
  // Starts one before its sandbox is known, in the groups that `child` names; it is one without a
  // network. Give it a program next, or kill it.
  pid_t StartEarly(ChildPlan* child, int cgroup_fd, int* pidfd);
  // Gives it sandbox and program; AwaitProgram is next. False if it is gone.
  bool Give(const ChildPlan& child);
  // Waits until it has prepared all. False if it could not.
  bool AwaitParked();
  // Gives a program to the one that was parked; AwaitProgram is next. False if it cannot be used,
  // since it failed or would not show what a new one would: then it is to be killed.
  bool Take(const ChildPlan& child);
  // As Start for a sandbox without namespaces (the tier kLandlock): only what `child` reports on.
  bool Listen(ChildPlan* child);

  // Waits until the program runs: its pid and *pidfd. Or -1 with *failure; init has ended then, or
  // is about to.
  pid_t AwaitProgram(int* pidfd, Failure* failure);
  // The same without waiting: 0 if it is not known yet. Poll report_fd for POLLIN.
  pid_t TryProgram(int* pidfd, Failure* failure);
  // After the start of one that Listen was called for: takes what it has reported.
  bool TakeListener(Failure* failure);
  // How the program ended, if it was said; does not wait. Poll report_fd for POLLIN.
  bool TakeEnd(int* status) const;
  int report_fd() const { return report_.get(); }

  bool ok() const { return report_.ok(); }
  // Of the filter's notifications, or not ok().
  UniqueFd& listener() { return listener_; }
  const UniqueFd& listener() const { return listener_; }

 private:
  pid_t Clone(InitPlan* plan, int cgroup_fd, int* pidfd);
  pid_t TakeReports(int* pidfd, Failure* failure, int flags);
  void UseListener(UniqueFd listener);

  UniqueFd report_, theirs_, listener_;
  std::vector<UniqueFd> namespaces_;
  std::vector<SourceIdentity> sources_;  // of one that is parked
  KeptFolders kept_;
  std::unique_ptr<FdSlots> slots_;  // until init has its own table of descriptors
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_ENCLOSURE_H_
