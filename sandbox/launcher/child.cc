#include "sandbox/launcher/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/enter/confine.h"
#include "sandbox/launcher/exec_search.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

[[noreturn]] void Fail(ChildPlan* plan, const Failure& failure) {
  plan->error = failure;
  if (plan->error_fd >= 0) {
    [[maybe_unused]] const ssize_t n = write(plan->error_fd, &plan->error, sizeof(plan->error));
  }
  _exit(127);
}

[[noreturn]] void Fail(ChildPlan* plan, Step step, int error) { Fail(plan, {step, error}); }

// By name: a policy may have refused execveat. By descriptor where there is no /proc.
int ExecTrampoline(const ChildPlan& plan) {
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", plan.trampoline_fd);
  syscall(SYS_execve, path, plan.argv, plan.env);
  syscall(SYS_execveat, plan.trampoline_fd, "", plan.argv, plan.env, AT_EMPTY_PATH);
  return errno;
}

void AwaitGate(ChildPlan* plan) {
  char go;
  ssize_t n;
  while ((n = read(plan->gate_fd, &go, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1)
    _exit(127);  // the keeper is gone, or the record could not be written: nothing may run
}

}  // namespace

ChildRequest::ChildRequest(Message* message, bool tells_exit) {
  constexpr size_t kMaxStrings = 1 << 20;
  Reader in = message->reader();
  const uint8_t flags = in.Get<uint8_t>();
  plan.terminal = plan.own_session = (flags & kTerminal) != 0;
  plan.cwd = in.GetString();
  argv = in.GetStrings(kMaxStrings);
  env = in.GetStrings(kMaxStrings);
  if (!in.done()) sandbox = in.GetBytes();
  plan.argv = argv.data();
  plan.env = env.data();
  size_t next = 0;
  for (int i = 0; i < 3; ++i) {
    if ((flags & kHasStdio[i]) == 0) continue;
    stdio[i] = message->TakeFd(next++);
    plan.stdio[i] = stdio[i].get();
  }
  if (tells_exit) exit_socket = message->TakeFd(next++);
  if (!in.done() || argv.size() < 2 || exit_socket.ok() != tells_exit ||
      message->fds.size() != next) {
    plan.error = {Step::kRequest, EINVAL};
  }
}

int SendRequest(int socket, const ChildPlan& plan, bool with_sandbox) {
  uint8_t flags = plan.terminal ? kTerminal : 0;
  int fds[3];
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    if (plan.stdio[i] == 0) continue;
    flags |= kHasStdio[i];
    fds[count++] = plan.stdio[i];
  }
  const auto list = [](const char* const* strings) {
    std::vector<std::string_view> all;
    for (; *strings != nullptr; ++strings) all.emplace_back(*strings);
    return all;
  };
  Writer out;
  out.Put(flags).Put(plan.cwd != nullptr ? plan.cwd : "");
  out.PutList(list(plan.argv)).PutList(list(plan.env));
  if (with_sandbox) out.Put(plan.sandbox_bytes);
  return SendMessage(socket, kSpawn, out.body(), fds, count);
}

namespace {

void Join(ChildPlan* plan) {
  FdSlots::RestoreLimit();
  if (plan->dies_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->parent) _exit(127);
  }
  // Before the gate, where there is time; told after it.
  const int limits_error = cgroups::EnterGroups(plan->limit_fds, plan->limit_count);
  // Before any step that can fail: the keeper asks for the failure once it has opened the gate, not
  // before.
  if (plan->gate_fd >= 0) AwaitGate(plan);
  if (limits_error != 0) Fail(plan, Step::kLimits, limits_error);
  if (plan->own_session) {
    if (setsid() < 0) Fail(plan, Step::kSession, errno);
  } else {
    setpgid(0, 0);
  }
}

void Place(ChildPlan* plan) {
  // Backwards: 0, the helper's /dev/null, may be wanted as 1 or 2 too.
  for (int i = 2; i >= 0; --i) {
    if (plan->stdio[i] != i && dup2(plan->stdio[i], i) < 0) Fail(plan, Step::kStdio, errno);
  }
  if (plan->terminal && ioctl(0, TIOCSCTTY, 0) != 0) Fail(plan, Step::kSession, errno);
  if (plan->cwd_fd >= 0 && fchdir(plan->cwd_fd) != 0) Fail(plan, Step::kDirectory, errno);
  // Every helper is in "/" itself.
  if (plan->cwd != nullptr && plan->cwd[0] != '\0' && strcmp(plan->cwd, "/") != 0 &&
      chdir(plan->cwd) != 0) {
    Fail(plan, Step::kDirectory, errno);
  }
  if (plan->keep_fd >= 0) {
    // Last of the descriptors to be placed: whatever was at 3 has been used by now.
    if (plan->keep_fd == kControlFd ? fcntl(kControlFd, F_SETFD, 0) != 0
                                    : dup2(plan->keep_fd, kControlFd) < 0) {
      Fail(plan, Step::kStdio, errno);
    }
  }
}

// Of one in namespaces its init has given up the future ones, and maybe the others.
void GiveUp(ChildPlan* plan, bool privileges) {
  // The helper blocks signals and ignores these two; the program begins as if nobody had.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan->sandbox == nullptr) return;
  Failure failure;
  const bool outside = plan->sandbox->tier == SandboxTier::kLandlock;
  if ((outside && !DropFuturePrivileges(*plan->sandbox, &failure)) ||
      ((outside || privileges) && !DropPrivileges(*plan->sandbox, &failure)) ||
      !Confine(*plan->sandbox,
               {.ruleset = plan->ruleset_fd,
                .report = plan->report_fd,
                .keep = plan->trampoline_fd >= 0 ? plan->error_fd : -1},
               &failure)) {
    Fail(plan, failure);
  }
}

[[noreturn]] void Execute(ChildPlan* plan) {
  if (plan->exe_fd >= 0) {
    syscall(SYS_execveat, plan->exe_fd, "", plan->argv, plan->env, AT_EMPTY_PATH);
    Fail(plan, Step::kExec, errno);
  }
  if (plan->trampoline_fd >= 0) Fail(plan, Step::kExec, ExecTrampoline(*plan));
  Fail(plan, Step::kExec, ExecSearch(plan->argv, plan->env));
}

}  // namespace

void RunChild(ChildPlan* plan) {
  if (plan->shares_files) FdSlots::Separate();
  Join(plan);
  Place(plan);
  GiveUp(plan, /*privileges=*/false);
  Execute(plan);
}

void PrepareChild(ChildPlan* plan) {
  Join(plan);
  GiveUp(plan, /*privileges=*/true);
}

void FinishChild(ChildPlan* plan) {
  // A table of its own, before it puts anything at the numbers of its parent's streams.
  if (plan->shares_files) {
    FdSlots::Separate();
  } else {
    CloseRange(~0u, ~0u, CLOSE_RANGE_UNSHARE);
  }
  Place(plan);
  Execute(plan);
}

namespace {

clone_args CloneArgs(int cgroup_fd, int* pidfd) {
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(pidfd);
  args.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  return args;
}

}  // namespace

pid_t StartChild(ChildPlan* plan, int cgroup_fd, int* pidfd) {
  *pidfd = -1;
  plan->parent = getpid();
  FdSlots slots(*plan);
  clone_args args = CloneArgs(cgroup_fd, pidfd);
  args.flags |= slots.clone_flags();
  slots.plan()->shares_files = slots.clone_flags() != 0;
  const long pid =
      CloneVfork(&args, [](void* arg) { RunChild(static_cast<ChildPlan*>(arg)); }, slots.plan());
  plan->error = slots.plan()->error;
  if (pid < 0) {
    plan->error = {Step::kClone, static_cast<int>(-pid)};
    return -1;
  }
  if (plan->error.step != Step::kNone) {
    waitpid(static_cast<pid_t>(pid), nullptr, 0);
    close(*pidfd);
    *pidfd = -1;
    return -1;
  }
  return static_cast<pid_t>(pid);
}

bool CanStartIn(int cgroup_fd) {
  int pidfd = -1;
  clone_args args = CloneArgs(cgroup_fd, &pidfd);
  const long pid = CloneVfork(&args, [](void*) { _exit(0); }, nullptr);
  if (pid < 0) return false;
  close(pidfd);
  int status = -1;
  while (waitpid(static_cast<pid_t>(pid), &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status);
}

pid_t StartGatedChild(ChildPlan* plan, int cgroup_fd, int* pidfd) {
  *pidfd = -1;
  plan->parent = getpid();
  clone_args args = CloneArgs(cgroup_fd, pidfd);
  const long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid == 0) RunChild(plan);
  if (pid < 0) plan->error = {Step::kClone, errno};
  return static_cast<pid_t>(pid);
}

}  // namespace berth::launcher
