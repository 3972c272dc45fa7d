#include "sandbox/launcher/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/exit_notice.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/tree.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {
namespace {

// Closes all descriptors above 2 but these: the exit sockets of other processes must not stay open
// here.
void CloseAllBut(int* keep, int count) {
  std::sort(keep, keep + count);
  unsigned next = 3;
  for (int i = 0; i < count; ++i) {
    if (keep[i] < 3) continue;
    const unsigned fd = static_cast<unsigned>(keep[i]);
    if (fd > next) CloseRange(next, fd - 1, 0);
    next = std::max(next, fd + 1);
  }
  CloseRange(next, ~0u, 0);
}

[[noreturn]] void Supervise(ChildPlan* plan, int exit_socket, int report, pid_t launcher) {
  // TERM, not KILL, when the launcher dies: there is a tree to take along.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != launcher) _exit(1);
  std::vector<int> keep{plan->stdio[0],   plan->stdio[1], plan->stdio[2], plan->report_fd,
                        plan->ruleset_fd, exit_socket,    report};
  keep.insert(keep.end(), plan->limit_fds, plan->limit_fds + plan->limit_count);
  CloseAllBut(keep.data(), static_cast<int>(keep.size()));
  sigset_t mask;
  sigemptyset(&mask);
  for (int signal : {SIGCHLD, SIGTERM, StopSignal()}) sigaddset(&mask, signal);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const UniqueFd signals(signalfd(-1, &mask, SFD_CLOEXEC));

  const Tree tree{Cgroup()};
  int pidfd;
  const pid_t pid = StartChild(plan, -1, &pidfd);
  Writer started;
  started.Put(plan->error.step).Put(plan->error.error).Put(plan->error.item).Put(pid);
  SendMessage(report, kSpawned, started.body(), &pidfd, pid > 0 ? 1 : 0);
  if (pid < 0) _exit(1);
  // The program's streams must end with the program.
  for (int fd : plan->stdio) {
    if (fd > 2) close(fd);
  }
  if (plan->report_fd > 2) close(plan->report_fd);
  // Who waits for the program's end hears first that it runs.
  char closed;
  while (recv(report, &closed, 1, 0) < 0 && errno == EINTR) {
  }
  close(report);

  bool running = true, stopping = false, killing = false;
  uint64_t kill_at = kNever;
  while (running || !tree.Empty()) {
    pollfd wait{signals.get(), POLLIN, 0};
    const uint64_t now = NowNs();
    int timeout = -1;
    if (!killing && kill_at != kNever) {
      timeout = kill_at <= now ? 0 : static_cast<int>((kill_at - now) / 1000000 + 1);
    }
    poll(&wait, 1, timeout);
    signalfd_siginfo info;
    if ((wait.revents & POLLIN) != 0 && read(signals.get(), &info, sizeof(info)) == sizeof(info)) {
      if (static_cast<int>(info.ssi_signo) == StopSignal()) {
        if (!stopping) tree.Signal(SIGTERM);
        stopping = true;
        kill_at = std::min(kill_at, NowNs() + static_cast<uint64_t>(info.ssi_int) * 1000000);
      } else if (info.ssi_signo == SIGTERM) {
        stopping = true;
        kill_at = 0;
      }
    }
    int status;
    for (pid_t dead; (dead = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (dead != pid) continue;
      running = false;
      SendExitNotice(exit_socket, MakeExitNotice(status, stopping, plan->sandbox != nullptr));
      kill_at = 0;  // nothing outlives the main process
    }
    if (kill_at <= NowNs()) {
      killing = true;
      tree.Kill();
    }
  }
  _exit(0);
}

}  // namespace

int StopSignal() { return SIGRTMIN; }

pid_t StartSupervised(ChildPlan* plan, int exit_socket, pid_t* child, int* pidfd, UniqueFd* hold) {
  *child = -1;
  *pidfd = -1;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    plan->error = {Step::kClone, errno};
    return -1;
  }
  UniqueFd ours(pair[0]), theirs(pair[1]);
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid == 0) Supervise(plan, exit_socket, theirs.get(), launcher);
  if (pid < 0) {
    plan->error = {Step::kClone, errno};
    return -1;
  }
  theirs.reset();
  Message report;
  if (int error = ReceiveMessage(ours.get(), &report)) {
    plan->error = {Step::kClone, error};
    return -1;
  }
  Reader in = report.reader();
  plan->error.step = in.Get<Step>();
  plan->error.error = in.Get<int>();
  plan->error.item = in.Get<uint32_t>();
  *child = in.Get<pid_t>();
  *pidfd = report.TakeFd(0).release();
  *hold = std::move(ours);
  return plan->error.step == Step::kNone ? pid : -1;
}

}  // namespace berth::launcher
