#include "sandbox/launcher/enter/enclosure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/init.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

// The number of a process in our own namespace, whichever it was opened in. -1 if it is gone.
pid_t PidOf(int pidfd) {
  char path[40], text[512];
  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
  const UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = fd.ok() ? read(fd.get(), text, sizeof(text) - 1) : -1;
  if (n <= 0) return -1;
  text[n] = '\0';
  const char* at = strstr(text, "\nPid:\t");
  const int pid = at != nullptr ? atoi(at + 6) : -1;
  return pid > 0 ? pid : -1;
}

}  // namespace

void Enclosure::Equip(UniqueFd ours, UniqueFd theirs) {
  report_ = std::move(ours);
  theirs_ = std::move(theirs);
}

// Who waits for an answer is woken where it was given, without a turn of another processor. Before
// Linux 6.6 there is no such thing, and it takes longer.
void Enclosure::UseListener(UniqueFd listener) {
  constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t), kSyncWakeUp = 1;
  ioctl(listener.get(), kSetFlags, kSyncWakeUp);
  listener_ = std::move(listener);
}

void Enclosure::Release() {
  kept_.Release();
  namespaces_.clear();
  listener_.reset();
}

pid_t Enclosure::Clone(InitPlan* plan, int cgroup_fd, int* pidfd) {
  ChildPlan* child = plan->child;
  *pidfd = -1;
  if (!Listen(child)) return -1;
  plan->uid = geteuid();
  plan->gid = getegid();
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(pidfd);
  args.exit_signal = SIGCHLD;
  // One that parks or is early may not have come far when the next child is made.
  if (plan->joins == nullptr && !plan->parks && !plan->early) {
    slots_ = std::make_unique<FdSlots>(*child);
    plan->child = slots_->plan();
    plan->child->shares_files = slots_->clone_flags() != 0;
    args.flags |= slots_->clone_flags();
  }
  // The others it makes itself.
  if (plan->joins == nullptr) args.flags |= CLONE_NEWUSER | CLONE_NEWPID;
  if (cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  const long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid == 0) RunInit(plan);
  theirs_.reset();
  if (pid < 0) {
    child->error = {plan->joins == nullptr ? Step::kNamespaces : Step::kClone, errno};
    return -1;
  }
  return static_cast<pid_t>(pid);
}

pid_t Enclosure::Start(ChildPlan* child, int cgroup_fd, bool keeps_namespaces,
                       const Enclosure* joins, int* pidfd) {
  *pidfd = -1;
  int namespaces[kNamespaceCount];
  InitPlan plan;
  plan.child = child;
  plan.hands_over_namespaces = keeps_namespaces;
  if (joins != nullptr) {
    if (joins->namespaces_.size() != kNamespaceCount) {
      child->error = {Step::kNamespaces, ESRCH};
      return -1;
    }
    for (int i = 0; i < kNamespaceCount; ++i) namespaces[i] = joins->namespaces_[i].get();
    plan.joins = namespaces;
  }
  return Clone(&plan, cgroup_fd, pidfd);
}

pid_t Enclosure::Park(ChildPlan* child, int cgroup_fd, int* pidfd) {
  InitPlan plan;
  plan.child = child;
  plan.parks = true;
  return Clone(&plan, cgroup_fd, pidfd);
}

pid_t Enclosure::StartEarly(ChildPlan* child, int cgroup_fd, int* pidfd) {
  InitPlan plan;
  plan.child = child;
  plan.early = true;
  return Clone(&plan, cgroup_fd, pidfd);
}

bool Enclosure::Give(const ChildPlan& child) {
  return SendRequest(report_.get(), child, /*with_sandbox=*/true) == 0;
}

bool Enclosure::AwaitParked() {
  if (!sources_.empty()) return true;
  Report report;
  std::vector<UniqueFd> fds;
  std::string text;
  if (ReceiveReport(report_.get(), &report, &fds, &text) != 0) return false;
  if (report.kind == Report::Kind::kListener && fds.size() == 1) {
    UseListener(std::move(fds[0]));
    if (ReceiveReport(report_.get(), &report, &fds, &text) != 0) return false;
  }
  if (report.kind != Report::Kind::kParked || text.size() % sizeof(SourceIdentity) != 0) {
    return false;
  }
  sources_.resize(text.size() / sizeof(SourceIdentity));
  memcpy(sources_.data(), text.data(), text.size());
  return !sources_.empty();
}

bool Enclosure::Take(const ChildPlan& child) {
  if (!AwaitParked() || SendRequest(report_.get(), child) != 0) return false;
  // While it does what it has left to do.
  const bool still = SourcesAreStill(*child.sandbox, sources_);
  const char answer = still ? kConsent : '\0';
  if (send(report_.get(), &answer, 1, MSG_NOSIGNAL) == 1 && still) return true;
  // What it has made on the host is to be removed.
  Failure stale;
  int pidfd = -1;
  AwaitProgram(&pidfd, &stale);
  return false;
}

bool Enclosure::Listen(ChildPlan* child) {
  if (!report_.ok() && !MakeReportPair(&report_, &theirs_)) {
    child->error = {Step::kReport, errno};
    return false;
  }
  child->report_fd = theirs_.get();
  return true;
}

pid_t Enclosure::AwaitProgram(int* pidfd, Failure* failure) {
  const pid_t pid = TakeReports(pidfd, failure, 0);
  slots_.reset();
  return pid;
}

pid_t Enclosure::TryProgram(int* pidfd, Failure* failure) {
  const pid_t pid = TakeReports(pidfd, failure, MSG_DONTWAIT);
  if (pid != 0) slots_.reset();
  return pid;
}

pid_t Enclosure::TakeReports(int* pidfd, Failure* failure, int flags) {
  Report report;
  std::vector<UniqueFd> fds;
  std::string text;
  while (true) {
    if (const int error = ReceiveReport(report_.get(), &report, &fds, &text, flags)) {
      if (error == EAGAIN && flags == MSG_DONTWAIT) return 0;
      // Killed on its way: EPIPE. Or it waits for what it has to allow before it waits for it.
      *failure = {Step::kReport, error == EAGAIN ? ETIMEDOUT : error};
      return -1;
    }
    switch (report.kind) {
      case Report::Kind::kPlaceholders:
        if (fds.size() != 1) break;
        kept_.Add(std::move(fds[0]));
        continue;
      case Report::Kind::kListener:
        if (fds.size() != 1) break;
        UseListener(std::move(fds[0]));
        continue;
      case Report::Kind::kStarted: {
        if (fds.empty()) break;
        const pid_t pid = PidOf(fds[0].get());
        if (pid < 0 || send(report_.get(), "s", 1, MSG_NOSIGNAL) != 1) break;
        *pidfd = fds[0].release();
        fds.erase(fds.begin());
        namespaces_ = std::move(fds);
        return pid;
      }
      case Report::Kind::kFailed:
        *failure = report.failure;
        return -1;
      default:
        break;
    }
    *failure = {Step::kReport, EPROTO};
    return -1;
  }
}

bool Enclosure::TakeListener(Failure* failure) {
  theirs_.reset();
  Report report;
  std::vector<UniqueFd> fds;
  std::string text;
  const int error = ReceiveReport(report_.get(), &report, &fds, &text);
  if (error == 0 && report.kind == Report::Kind::kListener && fds.size() == 1) {
    UseListener(std::move(fds[0]));
    return true;
  }
  *failure = {Step::kReport, error == 0 ? EPROTO : error};
  return false;
}

bool Enclosure::TakeEnd(int* status) const {
  Report report;
  ssize_t n;
  while ((n = recv(report_.get(), &report, sizeof(report), MSG_DONTWAIT)) < 0 &&
         errno == ECONNRESET) {  // said once: see ReceiveReport
  }
  if (n != static_cast<ssize_t>(sizeof(report)) || report.kind != Report::Kind::kEnded) {
    return false;
  }
  *status = report.status;
  return true;
}

}  // namespace berth::launcher
