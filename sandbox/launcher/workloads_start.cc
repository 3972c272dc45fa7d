// The part of Workloads that starts programs: directly, below a supervisor, or in a sandbox with
// namespaces, whose init takes a millisecond or two and is not waited for by those that come after.

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/enter/plan_cache.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/supervisor.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/launcher/workloads.h"

namespace berth::launcher {
namespace {

// As long as a report is waited for.
constexpr uint64_t kLongestStart = uint64_t{60} * 1000000000;

// Up from a folder of the host's is the host.
bool HasFolder(const ChildPlan& plan) {
  return std::any_of(std::begin(plan.stdio), std::end(plan.stdio), [](int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
  });
}

bool IsEnclosed(const ChildPlan& plan) {
  return plan.sandbox != nullptr && plan.sandbox->tier != SandboxTier::kLandlock;
}

void SendSpawned(int exit_socket, const Failure& failure, pid_t program, int pidfd,
                 uint64_t received, std::string_view cgroup, std::string_view path, bool prepared) {
  Writer out;
  out.Put(failure.step).Put(int32_t{failure.error}).Put(int32_t{program});
  out.Put(received).Put(NowNs()).Put(cgroup).Put(path).Put(prepared);
  SendMessage(exit_socket, kSpawned, out.body(), &pidfd, pidfd >= 0 ? 1 : 0);
}

}  // namespace

void Workloads::MakeReady(bool sandboxed) {
  if (++starts_ < kStartsBefore) return;
  if (!ready_group_.ok()) ready_group_ = TakeGroup();
  if (sandboxed && !ready_report_[0].ok()) MakeReportPair(&ready_report_[0], &ready_report_[1]);
}

std::unique_ptr<Workloads::Workload> Workloads::NewWorkload(const SandboxPlan* sandbox) {
  auto workload = std::make_unique<Workload>();
  workload->sandboxed = sandbox != nullptr;
  if (sandbox != nullptr && shared_violations_ == nullptr) workload->violations.SetPlan(*sandbox);
  Cgroup group = TakeGroup();
  if (group.ok()) workload->tree.emplace(std::move(group));
  if (sandbox != nullptr && ready_report_[0].ok()) {
    workload->enclosure.Equip(std::move(ready_report_[0]), std::move(ready_report_[1]));
  }
  return workload;
}

void Workloads::GiveUp(Workload* workload) {
  workload->proxy.Stop();
  if (workload->tree.has_value()) GiveBack(workload);
  if (!workload->limits.Remove()) limits_left_ = true;
}

bool Workloads::Limit(Workload* workload, ChildPlan* plan) {
  if (plan->sandbox == nullptr) return true;
  if (shared_limits_ == nullptr && !MakeLimits(workload, LimitsOf(*plan->sandbox), &plan->error)) {
    return false;
  }
  (shared_limits_ != nullptr ? *shared_limits_ : workload->limits).PutInto(plan);
  return true;
}

void Workloads::Expect(const cgroups::GroupLimits& limits, bool encloses) {
  DropEarly();
  if (keeps_ && !mounts_.Open()) return;  // it is dropped when they change
  early_ = NewWorkload(nullptr);
  early_since_ = NowNs();
  ChildPlan plan;
  plan.trampoline_fd = trampoline_fd_;
  const int group = early_->tree.has_value() ? early_->tree->cgroup_fd() : -1;
  int init = -1;
  if (MakeLimits(early_.get(), limits, &plan.error) && encloses) {
    early_->limits.PutInto(&plan);
    early_->pid = early_->enclosure.StartEarly(&plan, group, &init);
  }
  early_->init.reset(init);
  // Why not, the start itself tells, if it is still so then.
  if (!plan.error.ok()) DropEarly();
}

void Workloads::DropEarly() {
  if (early_ == nullptr) return;
  if (early_->init.ok()) return Discard(std::move(early_));
  GiveUp(early_.get());
  early_ = nullptr;
}

std::unique_ptr<Workloads::Workload> Workloads::TakeEarly(ChildPlan* plan) {
  if (early_ == nullptr) return nullptr;
  const bool fits = plan->sandbox != nullptr && early_->limits.limits() == LimitsOf(*plan->sandbox);
  const bool encloses = IsEnclosed(*plan) && plan->sandbox->network == SandboxNetwork::kNone;
  const bool of_use = fits && early_->init.ok() == encloses;
  // One that has an init may yet be of use to another start.
  if (!of_use && keeps_ && early_->init.ok()) return nullptr;
  if (!of_use || (encloses && !early_->enclosure.Give(*plan))) {
    DropEarly();
    return nullptr;
  }
  early_->limits.PutInto(plan);
  early_->sandboxed = true;
  early_->violations.SetPlan(*plan->sandbox);
  return std::move(early_);
}

bool Workloads::CanBeExpected(const SandboxPlan& plan) {
  return plan.tier != SandboxTier::kLandlock && plan.network == SandboxNetwork::kNone &&
         shared_limits_ == nullptr && mounts_.Open();
}

void Workloads::ExpectAnother(const SandboxPlan& plan) {
  if (!CanBeExpected(plan)) return;
  const cgroups::GroupLimits limits = LimitsOf(plan);
  expected_starts_ = limits == expected_ ? expected_starts_ + 1 : 1;
  expected_ = limits;
  expects_ = expected_starts_ >= kStartsBefore;
}

bool Workloads::StartEnclosed(Workload* workload, ChildPlan* plan, const Enclosure* joins) {
  const int group = workload->tree.has_value() ? workload->tree->cgroup_fd() : -1;
  if (joins == nullptr && !workload->proxy.Start(*plan->sandbox, open_program_, &plan->error)) {
    return false;
  }
  plan->proxy_fd = workload->proxy.channel();
  plan->trampoline_fd = trampoline_fd_;
  int init = -1;
  workload->pid = workload->enclosure.Start(plan, group, false, joins, &init);
  workload->init.reset(init);
  return workload->pid >= 0;
}

bool Workloads::AwaitEnclosed(Workload* workload, ChildPlan* plan, int* pidfd) {
  workload->program = workload->enclosure.AwaitProgram(pidfd, &plan->error);
  if (workload->program >= 0) return true;
  PidfdSignal(workload->init.get(), SIGKILL);
  while (waitpid(workload->pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return false;
}

bool Workloads::StartProgram(Workload* workload, ChildPlan* plan, int* pidfd) {
  const bool notifies = plan->sandbox != nullptr && plan->sandbox->notifies;
  if (notifies && !workload->enclosure.Listen(plan)) return false;
  if (plan->sandbox != nullptr && !plan->sandbox_bytes.empty() && mounts_.Open()) {
    if (mounts_.Changed()) ForgetMounts();
    plan->ruleset_fd = rulesets_.Get(plan->sandbox_bytes, *plan->sandbox);
  }
  if (workload->tree.has_value()) {
    workload->pid = workload->program = StartChild(plan, workload->tree->cgroup_fd(), pidfd);
  } else {
    workload->supervised = true;
    workload->pid = StartSupervised(plan, workload->exit_socket.get(), &workload->program, pidfd,
                                    &workload->supervisor_hold);
  }
  if (workload->pid < 0) return false;
  // If it did not come the program waits for ever for whoever has it; it ends by the usual way.
  Failure failure;
  if (notifies && !workload->enclosure.TakeListener(&failure)) workload->kill_at = 0;
  return true;
}

bool Workloads::RunReady(Workload* workload, ChildPlan* plan, int* pidfd) {
  FdSlots slots(*plan);
  slots.plan()->shares_files = slots.clone_flags() != 0;
  *pidfd = workload->ready->Run(*slots.plan(), &plan->error);
  workload->pid = workload->program = workload->ready->pid();
  workload->ready = nullptr;
  return *pidfd >= 0;
}

std::unique_ptr<Workloads::Workload> Workloads::Launch(ChildPlan* plan, UniqueFd* exit_socket,
                                                       int* pidfd, const Enclosure* joins,
                                                       bool* prepared) {
  if (plan->sandbox != nullptr && HasFolder(*plan)) {
    plan->error = {Step::kStdio, EISDIR};
    return nullptr;
  }
  std::unique_ptr<Workload> workload = joins == nullptr ? TakeSpare(*plan) : nullptr;
  *prepared = workload != nullptr;
  if (workload == nullptr && joins == nullptr) workload = TakeEarly(plan);
  const bool limited = workload != nullptr;
  if (!limited) workload = NewWorkload(plan->sandbox);
  workload->exit_socket = std::move(*exit_socket);
  bool started = workload->init.ok();
  if (workload->ready != nullptr) {
    started = RunReady(workload.get(), plan, pidfd);
  } else if (!started && (limited || Limit(workload.get(), plan))) {
    started = IsEnclosed(*plan) ? StartEnclosed(workload.get(), plan, joins)
                                : StartProgram(workload.get(), plan, pidfd);
  }
  if (started) {
    last_start_ = NowNs();
    return workload;
  }
  *exit_socket = std::move(workload->exit_socket);
  GiveUp(workload.get());
  return nullptr;
}

pid_t Workloads::Start(ChildPlan* plan, UniqueFd exit_socket, int* pidfd, std::string* cgroup,
                       const Enclosure* joins) {
  bool prepared;
  std::unique_ptr<Workload> workload = Launch(plan, &exit_socket, pidfd, joins, &prepared);
  if (workload == nullptr) return -1;
  if (IsEnclosed(*plan) && !AwaitEnclosed(workload.get(), plan, pidfd)) {
    GiveUp(workload.get());
    return -1;
  }
  if (workload->tree.has_value()) *cgroup = workload->tree->cgroup_path();
  const pid_t program = workload->program;
  if (workload->supervised) workload->exit_socket.reset();
  workload->supervisor_hold.reset();
  Add(std::move(workload));
  return program;
}

void Workloads::Begin(ChildPlan* plan, std::shared_ptr<const SandboxPlan> sandbox,
                      UniqueFd exit_socket, uint64_t received) {
  Starting start{.received = received, .sandbox = std::move(sandbox), .failure = plan->error};
  int pidfd = -1;
  std::unique_ptr<Workload> launched;
  if (start.failure.ok()) {
    launched = Launch(plan, &exit_socket, &pidfd, nullptr, &start.prepared);
    start.failure = plan->error;
  }
  if (launched == nullptr) return TellFailure(exit_socket.get(), start);
  Workload* workload = launched.get();
  if (IsEnclosed(*plan)) {
    workload->kill_at = NowNs() + kLongestStart;
    workload->starting = std::move(start);
  } else {
    TellStart(*workload, start, pidfd);
    workload->process.reset(pidfd);
    if (workload->supervised) {
      workload->process.reset(PidfdOpen(workload->pid));
      workload->exit_socket.reset();
    }
    workload->supervisor_hold.reset();
  }
  Add(std::move(launched));
  Prepare(*plan);
}

void Workloads::Advance(Workload* workload) {
  Starting& start = *workload->starting;
  Failure failure;
  int pidfd_raw = -1;
  const pid_t program = workload->enclosure.TryProgram(&pidfd_raw, &failure);
  const UniqueFd pidfd(pidfd_raw);
  if (program == 0) return;
  // Also if it has been given up already: what it has made on the host is to be known.
  if (start.failure.ok()) start.failure = failure;
  if (!start.failure.ok()) {
    PidfdSignal(workload->init.get(), SIGKILL);
    return;
  }
  workload->program = program;
  TellStart(*workload, start, pidfd.get());
  workload->starting.reset();
  workload->kill_at = workload->stopping ? 0 : kNever;
  last_start_ = NowNs();
}

void Workloads::TellStart(const Workload& workload, const Starting& start, int pidfd) {
  FdSlots::MakeRoom(pidfd);
  SendSpawned(workload.exit_socket.get(), {}, workload.program, pidfd, start.received,
              workload.tree.has_value() ? workload.tree->cgroup_path() : "", "", start.prepared);
}

void Workloads::TellFailure(int exit_socket, const Starting& start) {
  const std::string path =
      start.sandbox != nullptr ? PathOf(*start.sandbox, start.failure) : std::string();
  SendSpawned(exit_socket, start.failure, -1, -1, start.received, "", path, false);
}

}  // namespace berth::launcher
