#include "sandbox/launcher/workloads.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sandbox/launcher/enter/denials.h"
#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/supervisor.h"

namespace berth::launcher {
namespace {
constexpr uint64_t kNever = ~uint64_t{0};
constexpr size_t kMostKept = 16;  // groups with limits
constexpr size_t kMostEnded = 64;
}  // namespace

Cgroup Workloads::TakeGroup() {
  if (!free_groups_.empty()) {
    Cgroup group = std::move(free_groups_.back());
    free_groups_.pop_back();
    return group;
  }
  return group_->MakeChild("p" + std::to_string(++group_count_));
}

void Workloads::GiveBack(Workload* workload) {
  Cgroup group = workload->tree->TakeLeaf();
  // Where a group was killed once, Linux 6.18 kills at birth each child that is cloned into it from
  // another group: it compares how often the two were killed, to catch those that are born during a
  // kill.
  if (workload->killed) {
    group.Remove();
  } else {
    free_groups_.push_back(std::move(group));
  }
}

bool Workloads::MakeLimits(Workload* workload, ChildPlan* plan) {
  const cgroups::GroupLimits wanted = LimitsOf(*plan->sandbox);
  for (TreeLimits& kept : free_limits_) {
    if (!(kept.limits() == wanted)) continue;
    workload->limits = std::move(kept);
    kept = std::move(free_limits_.back());
    free_limits_.pop_back();
    workload->limits.UseAgain();
    return true;
  }
  const int tree = workload->tree.has_value() ? workload->tree->cgroup_fd() : -1;
  // After our own group, which is named after this process: what is left when it is killed is found
  // by that.
  const std::string& path = group_->path();
  const std::string name =
      path.empty() ? "berth-" + std::to_string(getpid()) : path.substr(path.rfind('/') + 1);
  return workload->limits.Make(*plan->sandbox, tree, name + "-p" + std::to_string(++limit_count_),
                               &plan->error);
}

void Workloads::GiveBackLimits(Workload* workload) {
  if (!workload->limits.group().separate() || free_limits_.size() >= kMostKept) {
    workload->limits.Remove();
  } else {
    free_limits_.push_back(std::move(workload->limits));
  }
}

void Workloads::RemoveKept() {
  for (TreeLimits& each : free_limits_) each.Remove();
  free_limits_.clear();
}

bool Workloads::Limit(Workload* workload, ChildPlan* plan) {
  if (plan->sandbox == nullptr) return true;
  if (shared_limits_ == nullptr && !MakeLimits(workload, plan)) return false;
  (shared_limits_ != nullptr ? *shared_limits_ : workload->limits).PutInto(plan);
  return true;
}

bool Workloads::StartEnclosed(Workload* workload, ChildPlan* plan, int* pidfd,
                              const Enclosure* joins) {
  const int group = workload->tree.has_value() ? workload->tree->cgroup_fd() : -1;
  if (joins == nullptr && !workload->proxy.Start(*plan->sandbox, &plan->error)) return false;
  plan->proxy_fd = workload->proxy.channel();
  int init = -1;
  workload->pid = workload->enclosure.Start(plan, group, false, joins, &init);
  workload->init.reset(init);
  if (workload->pid < 0) return false;
  workload->program = workload->enclosure.AwaitProgram(pidfd, &plan->error);
  if (workload->program >= 0) return true;
  PidfdSignal(init, SIGKILL);
  while (waitpid(workload->pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return false;
}

bool Workloads::StartProgram(Workload* workload, ChildPlan* plan, int* pidfd,
                             const Enclosure* joins) {
  if (plan->sandbox != nullptr && plan->sandbox->tier != SandboxTier::kLandlock) {
    return StartEnclosed(workload, plan, pidfd, joins);
  }
  const bool notifies = plan->sandbox != nullptr && plan->sandbox->notifies;
  if (notifies && !workload->enclosure.Listen(plan)) return false;
  if (workload->tree.has_value()) {
    workload->pid = workload->program = StartChild(plan, workload->tree->cgroup_fd(), pidfd);
  } else {
    workload->supervised = true;
    workload->pid = StartSupervised(plan, workload->exit_socket.get(), &workload->program, pidfd);
    workload->exit_socket.reset();
  }
  if (workload->pid < 0) return false;
  // If it did not come the program waits for ever for whoever has it; it ends by the usual way.
  Failure failure;
  if (notifies && !workload->enclosure.TakeListener(&failure)) workload->kill_at = 0;
  return true;
}

pid_t Workloads::Start(ChildPlan* plan, UniqueFd exit_socket, int* pidfd, std::string* cgroup,
                       const Enclosure* joins) {
  auto workload = std::make_unique<Workload>();
  workload->exit_socket = std::move(exit_socket);
  workload->sandboxed = plan->sandbox != nullptr;
  if (workload->sandboxed) workload->violations.set_network(plan->sandbox->network);
  Cgroup group = TakeGroup();
  if (group.ok()) {
    *cgroup = group.path();
    workload->tree.emplace(std::move(group));
  }
  if (!Limit(workload.get(), plan) || !StartProgram(workload.get(), plan, pidfd, joins)) {
    workload->limits.Remove();
    workload->proxy.Stop();
    if (workload->tree.has_value()) free_groups_.push_back(workload->tree->TakeLeaf());
    return -1;
  }
  const pid_t program = workload->program;
  all_.push_back(std::move(workload));
  return program;
}

void Workloads::Stop(Workload* workload, uint32_t grace_ms) {
  if (workload->supervised) {
    sigval value;
    value.sival_int = static_cast<int>(std::min<uint32_t>(grace_ms, 1u << 30));
    sigqueue(workload->pid, StopSignal(),
             value);  // our own child, not reaped yet: the number is still its
    return;
  }
  if (!workload->stopping && workload->tree.has_value()) {
    workload->tree->Signal(SIGTERM);
  } else if (!workload->stopping) {
    for (const int signal : {SIGTERM, SIGCONT}) SignalDescendants(workload->pid, signal);
  }
  workload->stopping = true;
  workload->kill_at = std::min(workload->kill_at, NowNs() + uint64_t{grace_ms} * 1000000);
}

void Workloads::Stop(pid_t program, uint32_t grace_ms) {
  for (auto& workload : all_) {
    if (workload->program == program) return Stop(workload.get(), grace_ms);
  }
}

void Workloads::StopAll(uint32_t grace_ms) {
  for (auto& workload : all_) Stop(workload.get(), grace_ms);
}

bool Workloads::Reaped(pid_t pid, int status) {
  for (auto& workload : all_) {
    if (workload->pid != pid || !workload->running) continue;
    workload->running = false;
    if (workload->exit_socket.ok()) {
      if (workload->init.ok()) status = workload->enclosure.EndStatus(status);
      ExitNotice notice = MakeExitNotice(status, workload->stopping, workload->sandboxed);
      workload->limits.Explain(&notice);
      SendExitNotice(workload->exit_socket.get(), notice);
    }
    workload->kill_at = 0;  // nothing outlives the main process
    return true;
  }
  return false;
}

void Workloads::Kill(Workload* workload) {
  if (workload->tree.has_value()) return workload->tree->Kill();
  SignalDescendants(workload->pid, SIGKILL);
  PidfdSignal(workload->init.get(), SIGKILL);  // and with it all in its namespace
}

void Workloads::EncodeViolations(pid_t program, uint64_t since, Writer* out) const {
  for (const auto& workload : all_) {
    if (workload->program == program) return workload->violations.Encode(since, out);
  }
  // The last with that number, if it was given twice.
  for (auto ended = ended_.rbegin(); ended != ended_.rend(); ++ended) {
    if (ended->program == program) return ended->violations.Encode(since, out);
  }
  ViolationLog().Encode(since, out);
}

uint64_t Workloads::Settle() {
  uint64_t next = kNever;
  for (size_t i = 0; i < all_.size();) {
    Workload& workload = *all_[i];
    UniqueFd& listener = workload.enclosure.listener();
    if (listener.ok() && !ServeNotifications(listener.get(), &workload.violations)) {
      listener.reset();
    }
    workload.limits.Report(&workload.violations);
    NoteDenials(&workload.proxy, &workload.violations);
    bool gone = !workload.running;
    if (!workload.supervised) {
      gone = gone && (!workload.tree.has_value() || workload.tree->Empty());
      if (!gone && workload.kill_at <= NowNs()) {
        Kill(&workload);
        workload.killed = true;
        // Once more in a while if it still runs: before cgroup.kill a pass can miss a process that
        // forks.
        workload.kill_at = NowNs() + 100000000;
      }
    }
    if (gone) {
      if (workload.violations.total() > 0) {
        ended_.push_back({workload.program, std::move(workload.violations)});
        if (ended_.size() > kMostEnded) ended_.pop_front();
      }
      GiveBackLimits(&workload);
      workload.proxy.Stop();
      if (workload.tree.has_value()) GiveBack(&workload);
      all_[i] = std::move(all_.back());
      all_.pop_back();
      continue;
    }
    next = std::min(next, workload.kill_at);
    ++i;
  }
  return next;
}

std::vector<pid_t> Workloads::Supervisors() const {
  std::vector<pid_t> pids;
  for (const auto& workload : all_) {
    if (workload->supervised && workload->running) pids.push_back(workload->pid);
  }
  return pids;
}

void Workloads::AppendPoll(std::vector<pollfd>* fds) const {
  for (const auto& workload : all_) {
    if (!workload->running && workload->tree.has_value()) {
      fds->push_back({workload->tree->events_fd(), POLLPRI, 0});
    }
    const int listener = workload->enclosure.listener().get();
    if (listener >= 0) fds->push_back({listener, POLLIN, 0});
    workload->limits.AppendPoll(fds);
    const int proxy = workload->proxy.channel();
    if (proxy >= 0) fds->push_back({proxy, POLLIN, 0});
  }
}

}  // namespace berth::launcher
