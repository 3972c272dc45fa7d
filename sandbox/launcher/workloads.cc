#include "sandbox/launcher/workloads.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "sandbox/launcher/enter/denials.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/supervisor.h"

namespace berth::launcher {
namespace {
constexpr size_t kMostKept = 16;  // groups with limits
constexpr size_t kMostEnded = 64;

}  // namespace

Cgroup Workloads::TakeGroup() {
  if (ready_group_.ok()) return std::move(ready_group_);
  if (!free_groups_.empty()) {
    Cgroup group = std::move(free_groups_.back());
    free_groups_.pop_back();
    return group;
  }
  return group_->MakeChild("p" + std::to_string(++group_count_));
}

// They would be the limits of the group's next tree too.
bool Workloads::LimitsTree(const Workload& workload) {
  return workload.limits.group().ok() && !workload.limits.group().separate();
}

void Workloads::GiveBack(Workload* workload) {
  Cgroup group = workload->tree->TakeLeaf();
  // Where a group was killed once, Linux 6.18 kills at birth each child that is cloned into it from
  // another group: it compares how often the two were killed, to catch those that are born during a
  // kill.
  if (!keeps_ || workload->killed || LimitsTree(*workload)) {
    group.Remove();
  } else {
    free_groups_.push_back(std::move(group));
  }
}

// After our own group, which is named after this process: what is left when it is killed is found
// by that.
std::string Workloads::LimitsName() {
  const std::string& path = group_->path();
  const std::string name =
      path.empty() ? "berth-" + std::to_string(getpid()) : path.substr(path.rfind('/') + 1);
  return name + "-p" + std::to_string(++limit_count_);
}

const cgroups::Layout& Workloads::layout() {
  if (!layout_.has_value()) layout_ = cgroups::Layout::Read();
  return *layout_;
}

bool Workloads::MakeLimits(Workload* workload, const cgroups::GroupLimits& wanted,
                           Failure* failure) {
  for (TreeLimits& kept : free_limits_) {
    if (!(kept.limits() == wanted)) continue;
    workload->limits = std::move(kept);
    kept = std::move(free_limits_.back());
    free_limits_.pop_back();
    return true;
  }
  const int tree = workload->tree.has_value() ? workload->tree->cgroup_fd() : -1;
  return workload->limits.Make(layout(), wanted, tree, LimitsName(), failure);
}

void Workloads::GiveBackLimits(Workload* workload) {
  if (!keeps_ || !workload->limits.group().separate() || free_limits_.size() >= kMostKept) {
    if (!workload->limits.Remove()) limits_left_ = true;
  } else {
    // Now, when nobody waits for a start.
    workload->limits.UseAgain();
    free_limits_.push_back(std::move(workload->limits));
  }
}

bool Workloads::RemoveKept() {
  for (TreeLimits& each : free_limits_) {
    if (!each.Remove()) limits_left_ = true;
  }
  free_limits_.clear();
  return !limits_left_;
}

void Workloads::Add(std::unique_ptr<Workload> workload) {
  Watch(workload.get());
  workload->at = all_.size();
  by_pid_[workload->pid] = workload.get();
  if (workload->kill_at != kNever) Note(workload.get());
  all_.push_back(std::move(workload));
}

void Workloads::Note(Workload* workload) {
  if (!workload->noted) noted_.push_back(workload);
  workload->noted = true;
}

void Workloads::Forget(Workload* workload) {
  Unwatch(workload);
  if (workload->violations.total() == 0 && shared_violations_ == nullptr && workload->told) {
    send(workload->exit_socket.get(), kNothingStopped, sizeof(kNothingStopped), MSG_NOSIGNAL);
  }
  if (workload->violations.total() > 0) {
    workload->violations.DropPlan();
    ended_.push_back({workload->program, std::move(workload->violations)});
    if (ended_.size() > kMostEnded) ended_.pop_front();
  }
  if (workload->starting.has_value()) {
    GiveUp(workload);
    workload->enclosure.Release();
    TellFailure(workload->exit_socket.get(), *workload->starting);
  } else {
    workload->proxy.Stop();
    // Who waits for the end of it need not wait for the groups, which are empty.
    workload->enclosure.Release();
    workload->exit_socket.reset();
    if (workload->tree.has_value()) GiveBack(workload);
    GiveBackLimits(workload);
  }
  const size_t at = workload->at;
  all_[at] = std::move(all_.back());
  all_.pop_back();
  if (at < all_.size()) all_[at]->at = at;
}

void Workloads::Stop(Workload* workload, uint32_t grace_ms) {
  if (workload->supervised) {
    sigval value;
    value.sival_int = static_cast<int>(std::min<uint32_t>(grace_ms, 1u << 30));
    sigqueue(workload->pid, StopSignal(),
             value);  // our own child, not reaped yet: the number is still its
    return;
  }
  if (workload->starting.has_value()) {
    // Once it is known what it has made on the host.
    workload->stopping = true;
    return;
  }
  if (!workload->stopping && workload->tree.has_value()) {
    workload->tree->Signal(SIGTERM);
  } else if (!workload->stopping) {
    for (const int signal : {SIGTERM, SIGCONT}) SignalDescendants(workload->pid, signal);
  }
  workload->stopping = true;
  Note(workload);
  workload->kill_at = std::min(workload->kill_at, NowNs() + uint64_t{grace_ms} * 1000000);
}

void Workloads::Stop(pid_t program, uint32_t grace_ms) {
  for (auto& workload : all_) {
    if (program > 0 && workload->program == program) return Stop(workload.get(), grace_ms);
  }
}

void Workloads::StopAll(uint32_t grace_ms) {
  DropSpares();
  DropEarly();
  expects_ = false;  // nor is another made
  for (auto& workload : all_) Stop(workload.get(), grace_ms);
}

void Workloads::TellEnd(Workload* workload, int status) {
  if (!workload->exit_socket.ok() || workload->told || workload->starting.has_value()) return;
  workload->told = true;
  ExitNotice notice = MakeExitNotice(status, workload->stopping, workload->sandboxed);
  if (workload->sandboxed) LogOf(workload)->AddDeath(workload->program, notice.signal);
  workload->limits.Explain(&notice);
  SendExitNotice(workload->exit_socket.get(), notice);
}

bool Workloads::Reaped(pid_t pid, int status) {
  SpareEnded(pid);
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return false;
  Workload* workload = found->second;
  by_pid_.erase(found);  // the number may be another's soon
  workload->running = false;
  if (workload->starting.has_value()) Advance(workload);
  if (workload->init.ok() && !workload->starting.has_value()) workload->enclosure.TakeEnd(&status);
  TellEnd(workload, status);
  workload->kill_at = 0;  // nothing outlives the main process
  Watch(workload);
  Note(workload);
  return true;
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

// Its groups go on to the next.
void Workloads::Unwatch(Workload* workload) {
  for (const pollfd& fd : workload->watched) {
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd.fd, nullptr);
  }
  workload->watched.clear();
}

void Workloads::Watch(Workload* workload) {
  const UniqueFd& process = workload->init.ok() ? workload->init : workload->process;
  std::vector<pollfd> wanted;
  if (workload->running) wanted.push_back({process.get(), POLLIN, 0});
  if (!workload->running && workload->tree.has_value()) {
    wanted.push_back({workload->tree->events_fd(), POLLPRI, 0});
  }
  const bool failed = workload->starting.has_value() && !workload->starting->failure.ok();
  if (workload->init.ok() && !workload->told && !failed) {
    wanted.push_back({workload->enclosure.report_fd(), POLLIN, 0});
  }
  wanted.push_back({workload->enclosure.listener().get(), POLLIN, 0});
  workload->limits.AppendPoll(&wanted);
  wanted.push_back({workload->proxy.channel(), POLLIN, 0});
  std::erase_if(wanted, [](const pollfd& fd) { return fd.fd < 0; });
  const auto in = [](const std::vector<pollfd>& fds, int fd) {
    return std::any_of(fds.begin(), fds.end(), [fd](const pollfd& each) { return each.fd == fd; });
  };
  for (const pollfd& old : workload->watched) {
    if (!in(wanted, old.fd)) epoll_ctl(events_.get(), EPOLL_CTL_DEL, old.fd, nullptr);
  }
  for (const pollfd& fd : wanted) {
    if (in(workload->watched, fd.fd)) continue;
    epoll_event event{};
    event.events = static_cast<uint32_t>(fd.events);
    // Told once: what a tracer has not seen yet cannot be reaped. SIGCHLD tells when it can.
    if (fd.fd == process.get()) event.events |= EPOLLET;
    event.data.ptr = workload;
    epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd.fd, &event);
  }
  workload->watched = std::move(wanted);
}

void Workloads::TakeEvents() {
  epoll_event events[64];
  const int count = epoll_wait(events_.get(), events, 64, 0);
  for (int i = 0; i < count; ++i) {
    Workload* workload = static_cast<Workload*>(events[i].data.ptr);
    Note(workload);
    int status;
    if (workload->running && waitpid(workload->pid, &status, WNOHANG) == workload->pid) {
      Reaped(workload->pid, status);
    }
  }
}

void Workloads::Look(Workload* workload) {
  if (workload->starting.has_value()) Advance(workload);
  UniqueFd& listener = workload->enclosure.listener();
  if (listener.ok() && !ServeNotifications(listener.get(), LogOf(workload))) {
    epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener.get(), nullptr);
    listener.reset();
  }
  workload->limits.Report(LogOf(workload));
  NoteDenials(&workload->proxy, LogOf(workload));
  int status;
  // Its init takes a while yet to go, with all that is left inside.
  if (workload->init.ok() && workload->running && !workload->starting.has_value() &&
      workload->enclosure.TakeEnd(&status)) {
    TellEnd(workload, status);
  }
  Watch(workload);
}

bool Workloads::Settle(Workload* workload) {
  Look(workload);
  if (workload->supervised) return !workload->running;
  const bool gone = !workload->running && (!workload->tree.has_value() || workload->tree->Empty());
  if (!gone && workload->kill_at <= NowNs()) {
    if (workload->starting.has_value() && workload->starting->failure.ok()) {
      workload->starting->failure = {Step::kReport, ETIMEDOUT};
    }
    Kill(workload);
    workload->killed = true;
    // Once more in a while if it still runs: before cgroup.kill a pass can miss a process that
    // forks.
    workload->kill_at = NowNs() + 100000000;
  }
  return gone;
}

uint64_t Workloads::Settle() {
  TakeEvents();
  uint64_t next = TendSpares();
  std::vector<Workload*> noted;
  noted.swap(noted_);
  for (Workload* workload : noted) {
    workload->noted = false;
    if (Settle(workload)) {
      Forget(workload);
      continue;
    }
    if (!workload->running || workload->kill_at != kNever) Note(workload);
    next = std::min(next, workload->kill_at);
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
  fds->push_back({events_.get(), POLLIN, 0});
  if (mounts_.fd() >= 0) fds->push_back({mounts_.fd(), POLLPRI, 0});
}

}  // namespace berth::launcher
