// Keeper, its first part: from a request to a program that runs.

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/plan_cache.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/pty.h"

namespace berth::launcher {
namespace {

// Of the kernel's default size: all pipes of a user share one allowance (pipe-user-pages-soft), and
// there may be hundreds of sessions.
bool MakePipe(UniqueFd* reads, UniqueFd* writes) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  reads->reset(fds[0]);
  writes->reset(fds[1]);
  return true;
}

// For a byte, or an error: takes the least of that allowance.
bool MakeSmallPipe(UniqueFd* reads, UniqueFd* writes) {
  if (!MakePipe(reads, writes)) return false;
  fcntl(reads->get(), F_SETPIPE_SZ, 1);
  return true;
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Step Keeper::SetUp(Message* message, int* error) {
  *error = EINVAL;
  if (!spec_.Decode(*message) || message->fds.size() != 3) return Step::kRequest;
  if (Failure failure; !spec_.plan.empty() && !ReadPlan(spec_.plan, &sandbox_, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  violations_.SetPlan(sandbox_);
  files_.session = message->TakeFd(0);
  files_.names = message->TakeFd(1);
  files_.run = message->TakeFd(2);
  files_.uid = spec_.uid;
  files_.name = spec_.name;
  const size_t keep = static_cast<size_t>(spec_.keep_bytes);
  out_.emplace(keep, spec_.pty ? nullptr : &mixed_);
  err_.emplace(keep, spec_.pty ? nullptr : &mixed_);
  if (!spec_.log_path.empty()) {
    *error = log_.Open(spec_.log_path, spec_.log_cap);
    if (*error != 0) return Step::kStdio;
  }
  listener_ = files_.Listen();
  if (!listener_.ok()) {
    *error = errno;
    return Step::kSocket;
  }
  if (cgroups_) group_ = Cgroup::Home().MakeChild("berth-" + spec_.uid);
  tree_.emplace(group_.MakeChild("main"));
  execs_.emplace(&group_, &OpenExecutable);
  if (Failure failure; !limits_.Make(sandbox_, group_.dir_fd(), "berth-" + spec_.uid, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  execs_->ShareLimits(&limits_);
  execs_->ShareViolations(&violations_);
  if (Failure failure; !proxy_.Start(sandbox_, &OpenExecutable, &failure)) {
    *error = failure.error;
    return failure.step;
  }
  Step step = Step::kNone;
  return StartMain(error, &step) ? Step::kNone : step;
}

bool Keeper::StartMain(int* error, Step* step) {
  UniqueFd child_stdio[3];
  if (spec_.pty) {
    Pty pty;
    if ((*error = OpenPty(spec_.rows, spec_.cols, &pty)) != 0) {
      *step = Step::kTerminal;
      return false;
    }
    pty_ = std::move(pty.master);
    // Kept open: a program that closes its terminal and opens it again finds it as it was.
    pty_slave_ = std::move(pty.slave);
    for (UniqueFd& fd : child_stdio) fd.reset(fcntl(pty_slave_.get(), F_DUPFD_CLOEXEC, 3));
  } else if (!MakePipe(&child_stdio[0], &stdin_) || !MakePipe(&stdout_, &child_stdio[1]) ||
             !MakePipe(&stderr_, &child_stdio[2])) {
    *error = errno;
    *step = Step::kStdio;
    return false;
  } else {
    for (int fd : {stdin_.get(), stdout_.get(), stderr_.get()}) SetNonBlocking(fd);
  }

  UniqueFd gate_read, errors_write;
  if (!MakeSmallPipe(&gate_read, &gate_) || !MakeSmallPipe(&start_errors_, &errors_write)) {
    *error = errno;
    *step = Step::kGate;
    return false;
  }
  std::vector<const char*> argv, env;
  for (const std::string& s : spec_.argv) argv.push_back(s.c_str());
  for (const std::string& s : spec_.env) env.push_back(s.c_str());
  argv.push_back(nullptr);
  env.push_back(nullptr);
  ChildPlan plan;
  for (int i = 0; i < 3; ++i) plan.stdio[i] = child_stdio[i].get();
  plan.cwd = spec_.cwd.c_str();
  plan.argv = argv.data();
  plan.env = env.data();
  plan.own_session = true;
  plan.terminal = spec_.pty;
  plan.gate_fd = gate_read.get();
  plan.error_fd = errors_write.get();
  if (sandboxed()) plan.sandbox = &sandbox_;
  limits_.PutInto(&plan);
  plan.proxy_fd = proxy_.channel();
  int pidfd;
  main_ = StartGated(&plan, tree_->cgroup_fd(), &pidfd);
  if (main_ < 0 && group_.ok() && !limits_.group().ok()) {
    // The group could be made but not entered: the other way, then.
    group_.Remove();
    tree_.emplace(Cgroup());
    main_ = StartGated(&plan, -1, &pidfd);
  }
  if (main_ < 0) {
    *error = plan.error.error;
    *step = plan.error.step;
    return false;
  }
  main_pidfd_.reset(pidfd);
  phase_ = Phase::kGated;
  return true;
}

pid_t Keeper::StartGated(ChildPlan* plan, int cgroup_fd, int* pidfd) {
  if (has_namespaces()) return enclosure_.Start(plan, cgroup_fd, true, nullptr, pidfd);
  if (sandbox_.notifies && !enclosure_.Listen(plan)) return -1;
  return StartGatedChild(plan, cgroup_fd, pidfd);
}

bool Keeper::OpenGate(ChildPlan::Error* error) {
  started_at_ = NowNs();
  if (write(gate_.get(), "g", 1) != 1) {
    *error = {Step::kGate, errno};
    return false;
  }
  gate_.reset();
  if (has_namespaces()) {
    int pidfd;
    const pid_t program = enclosure_.AwaitProgram(&pidfd, error);
    if (program < 0) return false;
    init_ = main_;
    main_ = program;
    main_pidfd_.reset(pidfd);
    phase_ = Phase::kRunning;
    return true;
  }
  // End of file: the program was executed, and closed its end by that. So this waits for exec and
  // for no longer.
  ssize_t n;
  while ((n = read(start_errors_.get(), error, sizeof(*error))) < 0 && errno == EINTR) {
  }
  start_errors_.reset();
  if (n == 0 && sandbox_.notifies && !enclosure_.TakeListener(error)) return false;
  if (n == 0) {
    phase_ = Phase::kRunning;
    return true;
  }
  if (n != sizeof(*error)) *error = {Step::kExec, EIO};
  return false;
}

}  // namespace berth::launcher
