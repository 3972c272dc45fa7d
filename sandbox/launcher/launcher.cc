#include "sandbox/launcher/launcher.h"

#include <errno.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/child.h"
#include "sandbox/launcher/enter/plan_cache.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/signals.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/launcher/workloads.h"

namespace berth::launcher {
namespace {

// SIGCHLD names one child, and others may have ended with it. To find those the kernel looks at
// every child there is. Whoever somebody waits for has an event of its own (Workloads), so that is
// left for later: it concerns proxies and spares, of which nothing is left but their number.
constexpr uint64_t kSweepNs = 200000000;

class Launcher {
 public:
  explicit Launcher(const LauncherSetting& setting) : setting_(setting) {
    workloads_.UseTrampoline(setting.trampoline_fd);
    if (setting.once) workloads_.KeepNothing();
  }
  int Run();

 private:
  bool SayHello();
  void Handle(Message* message);
  void Spawn(Message* message, uint64_t received);
  void StartKeeper(Message* message);

  const LauncherSetting setting_;
  PlanCache plans_;
  Cgroup group_;
  Workloads workloads_{&group_, setting_.open_program};
};

void Launcher::Spawn(Message* message, uint64_t received) {
  ChildRequest request(message);
  std::shared_ptr<const SandboxPlan> sandbox;
  if (request.ok() && !request.sandbox.empty()) {
    sandbox = plans_.Get(request.sandbox, &request.plan.error);
    request.plan.sandbox = sandbox.get();
    request.plan.sandbox_bytes = request.sandbox;
  }
  workloads_.Begin(&request.plan, std::move(sandbox), std::move(request.exit_socket), received);
}

void Launcher::StartKeeper(Message* message) {
  Reader in = message->reader();
  const char* title = in.GetString();
  const UniqueFd control = message->TakeFd(0);
  const UniqueFd program(setting_.open_program());
  // It is in the launcher's own group, so what the launcher can do with groups it can.
  const char* argv[] = {"berth-keeper", kKeeperMode, title,
                        group_.ok() ? kCgroupTree : kSubreaperTree, nullptr};
  const char* env[] = {nullptr};
  ChildPlan plan;
  plan.argv = argv;
  plan.env = env;
  plan.exe_fd = program.get();
  plan.keep_fd = control.get();
  plan.own_session = true;
  plan.dies_with_parent = false;
  int pidfd = -1;
  if (!in.done() || !control.ok()) {
    plan.error = {Step::kRequest, EINVAL};
  } else if (!program.ok()) {
    plan.error = {Step::kClone, errno};
  } else {
    StartChild(&plan, -1, &pidfd);
  }
  if (pidfd >= 0) close(pidfd);
  Writer out;
  out.Put(plan.error.step).Put(int32_t{plan.error.error});
  SendMessage(kControlFd, kKeeperStarted, out.body(), nullptr, 0);
}

void Launcher::Handle(Message* message) {
  switch (message->type) {
    case kSpawn:
      return Spawn(message, NowNs());
    case kStartKeeper:
      return StartKeeper(message);
    case kStopProcess: {
      Reader in = message->reader();
      const pid_t program = in.Get<int32_t>();
      const uint32_t grace_ms = in.Get<uint32_t>();
      if (in.done()) workloads_.Stop(program, grace_ms);
      return;
    }
    case kProcessViolations: {
      Reader in = message->reader();
      const pid_t program = in.Get<int32_t>();
      const uint64_t since = in.Get<uint64_t>();
      Writer out;
      workloads_.EncodeViolations(in.done() ? program : -1, since, &out);
      SendMessage(kControlFd, kProcessViolationsAre, out.body(), nullptr, 0);
      return;
    }
    case kExpect: {
      Reader in = message->reader();
      cgroups::GroupLimits limits;
      limits.memory_bytes = in.Get<int64_t>();
      limits.swap_bytes = in.Get<int64_t>();
      limits.pids = in.Get<int64_t>();
      limits.cpu_millis = in.Get<int64_t>();
      const bool encloses = in.Get<bool>();
      if (in.done()) workloads_.Expect(limits, encloses);
      return;
    }
    case kPrepare: {
      Reader in = message->reader();
      ChildPlan plan;
      plan.sandbox_bytes = in.GetBytes();
      std::shared_ptr<const SandboxPlan> sandbox;
      if (in.done()) sandbox = plans_.Get(plan.sandbox_bytes, &plan.error);
      plan.sandbox = sandbox.get();
      Writer out;
      out.Put(static_cast<uint32_t>(workloads_.PrepareNow(plan)));
      SendMessage(kControlFd, kPrepared, out.body(), nullptr, 0);
      return;
    }
    default:
      return;  // both ends are of one build
  }
}

bool Launcher::SayHello() {
  ProcStat stat;
  if (!ReadProcStat(getpid(), &stat)) return false;
  struct stat space;
  if (::stat("/proc/self/ns/pid", &space) != 0) space.st_ino = 0;
  cgroups::Layout layout = cgroups::Layout::Read();
  // The host may still be finding out.
  Message message;
  if (ReceiveMessage(kControlFd, &message) != 0 || message.type != kTag) return false;
  // How the reaper knows, when this process was killed, whose the group was.
  const std::string name = std::string("berth-") + message.reader().GetString() + "-" +
                           std::to_string(getpid()) + "-" + std::to_string(stat.start_time) + "-" +
                           std::to_string(space.st_ino);
  group_ = Cgroup::Home(layout).MakeChild(name);
  // For as long as this process lives, in whichever pid namespace: how the reaper knows that the
  // group is in use.
  if (group_.ok()) flock(group_.dir_fd(), LOCK_EX | LOCK_NB);
  if (group_.ok() && !CanStartIn(group_.dir_fd())) group_.Remove();
  // Only now: a group whose children have controllers takes no process itself.
  group_.ShareControllers(layout);
  workloads_.UseLayout(std::move(layout));
  Writer hello;
  hello.Put(group_.path()).Put(static_cast<uint64_t>(getpid()));
  return SendMessage(kControlFd, kHello, hello.body(), nullptr, 0) == 0;
}

int Launcher::Run() {
  ChildSignals signals;
  bool open = SayHello();
  if (!open) {
    // The host has gone meanwhile: nobody waits for a farewell.
    group_.Remove();
    return 2;
  }
  Message message;
  uint64_t sweep_at = kNever;
  // Once the host is gone, so is everything that it spawned: this ends when the last of it has.
  while (open || !workloads_.empty()) {
    const uint64_t next = workloads_.Settle();
    std::vector<pollfd> fds{{open ? kControlFd : -1, POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    workloads_.AppendPoll(&fds);
    if (workloads_.empty() && !open) break;
    if (poll(fds.data(), fds.size(), PollTimeout(std::min(next, sweep_at))) < 0) continue;
    workloads_.Polled(fds);
    if (fds[1].revents != 0) {
      int status;
      const pid_t named = signals.Drain();
      if (named > 0 && waitpid(named, &status, WNOHANG) == named) workloads_.Reaped(named, status);
      sweep_at = std::min(sweep_at, NowNs() + kSweepNs);
    }
    if (sweep_at <= NowNs()) {
      sweep_at = kNever;
      int status;
      for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) workloads_.Reaped(pid, status);
    }
    if (fds[0].revents != 0) {
      const int error = ReceiveMessage(kControlFd, &message);
      if (error == 0) Handle(&message);
      message.fds.clear();
      if (error == EPIPE) {
        open = false;
        workloads_.StopAll(0);
      }
    }
  }
  const bool removed = workloads_.RemoveKept();
  if (group_.Remove() && removed) SendMessage(kControlFd, kFarewell, "", nullptr, 0);
  return 0;
}

}  // namespace

int RunLauncher(const LauncherSetting& setting) {
  FdSlots::Reserve();
  return Launcher(setting).Run();
}

}  // namespace berth::launcher
