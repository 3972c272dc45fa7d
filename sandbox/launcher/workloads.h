// Workloads: the processes that a helper has started for others, each with its tree, until the last
// of it is gone.
#ifndef BERTH_SANDBOX_LAUNCHER_WORKLOADS_H_
#define BERTH_SANDBOX_LAUNCHER_WORKLOADS_H_

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/enclosure.h"
#include "sandbox/launcher/enter/mount_watch.h"
#include "sandbox/launcher/enter/rulesets.h"
#include "sandbox/launcher/enter/tree_limits.h"
#include "sandbox/launcher/enter/violations.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/own_program.h"
#include "sandbox/launcher/ready_child.h"
#include "sandbox/launcher/tree.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/proxy_child.h"

namespace berth::launcher {

class Workloads {
 public:
  // Trees are held by groups made in `group`, or by supervisors if it is not ok(). It must outlive
  // this. `open_program` gives what a proxy is started from.
  Workloads(const Cgroup* group, OpenProgram open_program)
      : group_(group), open_program_(open_program) {}

  // Programs in namespaces are executed by this one: see trampoline.cc.
  void UseTrampoline(int fd) { trampoline_fd_ = fd; }

  // All that is started from now on is under these, a session's, instead of those of its own plan.
  // They must outlive this.
  void ShareLimits(const TreeLimits* limits) { shared_limits_ = limits; }
  // The same for what they are stopped from: noted there, as the session's.
  void ShareViolations(ViolationLog* log) { shared_violations_ = log; }
  // As it was read when the group was made.
  void UseLayout(cgroups::Layout layout) { layout_ = std::move(layout); }
  // Otherwise groups, and sandboxes of the tier kPooled, are kept for later starts.
  void KeepNothing() { keeps_ = false; }
  // A start with these limits is asked for soon: its groups are made now, and its init if it is one
  // with namespaces and no network.
  void Expect(const cgroups::GroupLimits& limits, bool encloses);
  // Removes what is kept for later starts. Call it last. False if something of theirs or of the
  // starts before is left.
  bool RemoveKept();

  // Starts plan, in the sandbox `joins` if that is not null. Its end is told on `exit_socket`.
  // Returns the program's pid and *pidfd, or -1 with plan->error.
  pid_t Start(ChildPlan* plan, UniqueFd exit_socket, int* pidfd, std::string* cgroup,
              const Enclosure* joins);
  // The same for who waits at the other end of `exit_socket`, asked at `received` and has heard
  // nothing yet: before its end, kSpawned is sent there. Does not wait for a sandbox to be made, so
  // that others can be begun meanwhile. `sandbox` is what plan->sandbox is.
  void Begin(ChildPlan* plan, std::shared_ptr<const SandboxPlan> sandbox, UniqueFd exit_socket,
             uint64_t received);
  // Makes sandboxes ready for that plan, or one that is early for such as it, as its second start
  // does. Returns how many wait.
  size_t PrepareNow(const ChildPlan& plan);
  // TERM to the tree of that program, KILL after the grace. Not known: nothing.
  void Stop(pid_t program, uint32_t grace_ms);
  void StopAll(uint32_t grace_ms);
  // A child of this process was reaped. False if it is none of ours. Those that were begun are
  // reaped by Settle too, each at an event of its own: who has thousands of children need not look
  // for them among all.
  bool Reaped(pid_t pid, int status);
  // Kills what is due and forgets what is gone. Returns when to call it again (ns), or kNever.
  uint64_t Settle();
  // What to wait on before the next Settle, besides SIGCHLD.
  void AppendPoll(std::vector<pollfd>* fds) const;
  // What the sandbox of that program has stopped, from number `since` on; of an ended one, as long
  // as it is among the last.
  void EncodeViolations(pid_t program, uint64_t since, Writer* out) const;
  // After poll: drops what was prepared if the host's mounts have changed.
  void Polled(const std::vector<pollfd>& fds);
  // Spares do not count.
  bool empty() const { return all_.empty(); }
  // Of those that are held by supervisors: they.
  std::vector<pid_t> Supervisors() const;

 private:
  // One that was started once may never be again (a command at a prompt).
  static constexpr unsigned kStartsBefore = 2;
  // What is told by kSpawned.
  struct Starting {
    uint64_t received = 0;
    std::shared_ptr<const SandboxPlan> sandbox;
    bool prepared = false;  // in a sandbox that waited for it
    Failure failure = {};   // then it is told once nothing is left
  };
  struct Workload {
    pid_t pid = 0;  // what we wait for: the program, its supervisor or its init
    pid_t program = 0;
    std::optional<Starting> starting;  // nobody knows yet whether it runs
    bool supervised = false;
    UniqueFd exit_socket;
    std::optional<Tree> tree;  // not if supervised, or held by `init` alone
    UniqueFd supervisor_hold;  // see supervisor.h
    UniqueFd init;             // of a sandbox with namespaces
    UniqueFd process;          // of one that was begun, `pid` if that is not `init`
    // Of a spare without them: its program's process, and the ruleset that it is under.
    std::unique_ptr<ReadyChild> ready = {};
    uint64_t ruleset = 0;
    Enclosure enclosure;
    ViolationLog violations;
    TreeLimits limits;  // its own
    network::ProxyChild proxy;
    bool sandboxed = false;
    bool running = true;
    bool told = false;  // of its end
    bool stopping = false;
    bool killed = false;
    uint64_t kill_at = kNever;
    size_t at = 0;       // in all_
    bool noted = false;  // in noted_
    std::vector<pollfd> watched = {};
  };
  ViolationLog* LogOf(Workload* workload) {
    return shared_violations_ != nullptr ? shared_violations_ : &workload->violations;
  }
  // Sandboxes that wait for a program, of one plan.
  struct Prepared {
    std::string plan;  // its bytes
    SandboxPlan sandbox;
    unsigned starts = 0;
    uint64_t last_start = 0;
    bool due = false;  // spares are to be made
    std::vector<std::unique_ptr<Workload>> spares = {};
  };
  // The host's mounts have changed.
  void ForgetMounts();
  bool MakeLimits(Workload* workload, const cgroups::GroupLimits& wanted, Failure* failure);
  // The next name for groups in v1 hierarchies.
  std::string LimitsName();
  const cgroups::Layout& layout();
  void GiveBackLimits(Workload* workload);
  // workloads_start.cc
  std::unique_ptr<Workload> NewWorkload(const SandboxPlan* sandbox);
  // What the next start needs whatever its plan is.
  void MakeReady(bool sandboxed);
  // Of one that did not come to run.
  void GiveUp(Workload* workload);
  bool Limit(Workload* workload, ChildPlan* plan);
  bool StartProgram(Workload* workload, ChildPlan* plan, int* pidfd);
  static bool RunReady(Workload* workload, ChildPlan* plan, int* pidfd);
  // What Expect has made, if it is of use for this plan.
  std::unique_ptr<Workload> TakeEarly(ChildPlan* plan);
  void DropEarly();
  bool CanBeExpected(const SandboxPlan& plan);
  // After a start: makes one early for the next, in a quiet time.
  void ExpectAnother(const SandboxPlan& plan);
  void MakeExpected();
  bool StartEnclosed(Workload* workload, ChildPlan* plan, const Enclosure* joins);
  bool AwaitEnclosed(Workload* workload, ChildPlan* plan, int* pidfd);
  // Null with plan->error, and *exit_socket as it was. Of one that is enclosed only its init is
  // known.
  std::unique_ptr<Workload> Launch(ChildPlan* plan, UniqueFd* exit_socket, int* pidfd,
                                   const Enclosure* joins, bool* prepared);
  // Hears what the init of one that is starting has to say.
  void Advance(Workload* workload);
  static void TellStart(const Workload& workload, const Starting& start, int pidfd);
  static void TellFailure(int exit_socket, const Starting& start);
  // workloads_pool.cc
  // After a start: makes ready for the next, of the same plan if its tier is kPooled.
  void Prepare(const ChildPlan& plan);
  Prepared* PreparedFor(const ChildPlan& plan);
  bool CanBePrepared(const SandboxPlan& plan) const;
  bool MakeSpare(Prepared* kind);
  bool MakeReadySpare(Workload* spare, ChildPlan* plan);
  bool IsOfUse(Workload* spare, const ChildPlan& plan);
  void MakeSpares(Prepared* kind);
  std::unique_ptr<Workload> TakeSpare(const ChildPlan& plan);
  void Discard(std::unique_ptr<Workload> spare);
  void Drop(Prepared* kind);
  void DropSpares();
  void SpareEnded(pid_t pid);
  // Makes those that are due and drops those that nobody asks for. Returns when to call it again.
  uint64_t TendSpares();
  void Stop(Workload* workload, uint32_t grace_ms);
  // Waits from now on for all that is to be looked at for this one.
  void Watch(Workload* workload);
  void Unwatch(Workload* workload);
  void TakeEvents();
  void Look(Workload* workload);
  void Add(std::unique_ptr<Workload> workload);
  // It is to be settled next.
  void Note(Workload* workload);
  // Whether nothing of it is left.
  bool Settle(Workload* workload);
  void Forget(Workload* workload);
  void TellEnd(Workload* workload, int status);
  static void Kill(Workload* workload);
  static bool LimitsTree(const Workload& workload);
  Cgroup TakeGroup();
  void GiveBack(Workload* workload);

  const Cgroup* group_;
  const OpenProgram open_program_;
  int trampoline_fd_ = -1;
  bool keeps_ = true;
  // One descriptor for all of them: a start does not cost more because others run.
  UniqueFd events_{epoll_create1(EPOLL_CLOEXEC)};
  std::vector<Cgroup> free_groups_;  // empty ones, kept: making one costs as much as a fork
  unsigned group_count_ = 0;
  unsigned limit_count_ = 0;
  bool limits_left_ = false;  // which could not be removed
  const TreeLimits* shared_limits_ = nullptr;
  ViolationLog* shared_violations_ = nullptr;
  std::vector<TreeLimits> free_limits_;  // kept: making groups in v1 hierarchies costs more yet
  std::vector<std::unique_ptr<Workload>> all_;
  std::unordered_map<pid_t, Workload*> by_pid_;  // those that run
  std::vector<Workload*> noted_;
  std::vector<Prepared> prepared_;
  std::unique_ptr<Workload> early_;
  uint64_t early_since_ = 0;
  // Of the last start of that kind, and how many had them one after the other.
  cgroups::GroupLimits expected_;
  unsigned expected_starts_ = 0;
  bool expects_ = false;  // one is to be made
  MountWatch mounts_;     // since something was prepared
  Rulesets rulesets_;
  std::optional<cgroups::Layout> layout_;
  unsigned starts_ = 0;
  Cgroup ready_group_;
  UniqueFd ready_report_[2];
  uint64_t last_start_ = 0;  // of any
  struct Ended {
    pid_t program;
    ViolationLog violations;
  };
  std::deque<Ended> ended_;  // the last of those that tried something
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_WORKLOADS_H_
