#include "sandbox/launcher/workloads.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/supervisor.h"

namespace berth::launcher {
namespace {
constexpr uint64_t kNever = ~uint64_t{0};
}

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

pid_t Workloads::Start(ChildPlan* plan, UniqueFd exit_socket, int* pidfd, std::string* cgroup) {
  auto workload = std::make_unique<Workload>();
  workload->exit_socket = std::move(exit_socket);
  Cgroup group = TakeGroup();
  if (group.ok()) {
    *cgroup = group.path();
    workload->tree.emplace(std::move(group));
    workload->pid = workload->program = StartChild(plan, workload->tree->cgroup_fd(), pidfd);
    if (workload->pid < 0) free_groups_.push_back(workload->tree->TakeLeaf());
  } else {
    workload->supervised = true;
    workload->pid = StartSupervised(plan, workload->exit_socket.get(), &workload->program, pidfd);
    workload->exit_socket.reset();
  }
  if (workload->pid < 0) return -1;
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
  if (!workload->stopping) workload->tree->Signal(SIGTERM);
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
      SendExitNotice(workload->exit_socket.get(), status, workload->stopping);
    }
    workload->kill_at = 0;  // nothing outlives the main process
    return true;
  }
  return false;
}

uint64_t Workloads::Settle() {
  uint64_t next = kNever;
  for (size_t i = 0; i < all_.size();) {
    Workload& workload = *all_[i];
    bool gone = !workload.running;
    if (!workload.supervised) {
      gone = gone && workload.tree->Empty();
      if (!gone && workload.kill_at <= NowNs()) {
        workload.tree->Kill();
        workload.killed = true;
        // Once more in a while if it still runs: before cgroup.kill a pass can miss a process that
        // forks.
        workload.kill_at = NowNs() + 100000000;
      }
    }
    if (gone) {
      if (!workload.supervised) GiveBack(&workload);
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
    if (!workload->running && !workload->supervised) {
      fds->push_back({workload->tree->events_fd(), POLLPRI, 0});
    }
  }
}

}  // namespace berth::launcher
