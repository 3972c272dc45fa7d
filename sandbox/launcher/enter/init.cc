#include "sandbox/launcher/enter/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/enter/confine.h"
#include "sandbox/launcher/enter/id_map.h"
#include "sandbox/launcher/enter/init_filter.h"
#include "sandbox/launcher/enter/landlock.h"
#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/network_maker.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/enter/root.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/ready_child.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/listener.h"

namespace berth::launcher {
namespace {

constexpr int kKeyctlJoinSession = 1;
// Made here and not by the clone that made this process, whose parent has others to serve.
constexpr int kNamespacesInside = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

class Init {
 public:
  explicit Init(InitPlan* plan) : plan_(*plan), child_(*plan->child), report_(child_.report_fd) {}
  [[noreturn]] void Run();

 private:
  [[noreturn]] void Fail(const Failure& failure) {
    SendReport(report_, {.kind = Report::Kind::kFailed, .failure = failure}, nullptr, 0);
    _exit(127);
  }
  void Must(bool done, Step step) {
    if (!done) Fail({step, errno});
  }
  void KeepOnly(std::vector<int> keep);
  void StayWithParent();
  void AwaitGate();
  const SandboxPlan& sandbox() const { return *child_.sandbox; }
  void MakeNamespaces();
  void AwaitPlan();
  void Prepare();
  void AwaitRequest();
  void TakeRequest();
  void AwaitConsent();
  void Complete();
  void JoinNamespaces();
  void EnterNetwork();
  void EnterDirectory();
  void GetReady();
  void StartProgram();
  void CloneProgram();
  void MakeOutcome();
  void UseTrampoline();
  [[noreturn]] void Reap();

  InitPlan& plan_;
  ChildPlan& child_;
  SandboxPlan late_plan_;  // of one that is early
  const int report_;
  UniqueFd namespaces_[kNamespaceCount];
  Root root_;
  NetworkMaker network_;
  Message message_;
  std::optional<ChildRequest> request_;
  std::unique_ptr<ReadyChild> ready_;
  UniqueFd outcome_;  // of the trampoline
  std::vector<const char*> trampoline_argv_;
  char trampoline_report_[12] = {};
  UniqueFd directory_;
  pid_t program_ = -1;
  int program_pidfd_ = -1;
};

// The helper's other descriptors (exit sockets, control sockets) are no business of ours, and must
// not stay open here.
void Init::KeepOnly(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned next = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    const unsigned number = static_cast<unsigned>(fd);
    if (number > next) CloseRange(next, number - 1, 0);
    next = std::max(next, number + 1);
  }
  CloseRange(next, ~0u, 0);
}

void Init::StayWithParent() {
  Must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, Step::kClone);
  // In a new pid namespace nobody has a parent's number. But the helper's end of the report is its
  // alone: if that is closed it died before the line above.
  pollfd peer{report_, 0, 0};
  if (poll(&peer, 1, 0) != 0 && (peer.revents & POLLHUP) != 0) _exit(127);
}

void Init::AwaitGate() {
  if (child_.gate_fd < 0) return;
  char go;
  ssize_t n;
  while ((n = read(child_.gate_fd, &go, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) _exit(127);  // nothing may run
  close(child_.gate_fd);
  child_.gate_fd = -1;
}

void Init::EnterNetwork() {
  if (sandbox().network == SandboxNetwork::kHost) return;
  if (const int error = network_.Enter()) Fail({Step::kNetwork, error});
  if (sandbox().network != SandboxNetwork::kProxy) return;
  if (const int error = network::OpenDoor(child_.proxy_fd, sandbox().proxy_port)) {
    Fail({Step::kNetwork, error});
  }
}

void Init::MakeNamespaces() {
  Must(unshare(kNamespacesInside) == 0, Step::kNamespaces);
  if (const int error = MapIds(plan_.uid, plan_.gid)) Fail({Step::kIdMap, error});
  Failure failure;
  if (!root_.Begin(&failure)) Fail(failure);
}

void Init::AwaitPlan() {
  network_.Begin();
  MakeNamespaces();
  if (ReceiveMessage(report_, &message_) != 0) _exit(127);  // none came
  TakeRequest();
  if (!late_plan_.Decode(request_->sandbox)) Fail({Step::kPlan, EINVAL});
  child_.sandbox = &late_plan_;
}

void Init::Prepare() {
  if (!plan_.early) {
    // One of its own for each: an empty one that is shared would save most of a millisecond, and
    // sandboxes would meet on its loopback and by its abstract sockets.
    if (sandbox().network != SandboxNetwork::kHost) network_.Begin();
    MakeNamespaces();
  }
  if (plan_.hands_over_namespaces) EnterNetwork();
  for (int i = 0; plan_.hands_over_namespaces && i < kNamespaceCount; ++i) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/ns/%s", kNamespaceNames[i]);
    namespaces_[i] = UniqueFd(open(path, O_RDONLY | O_CLOEXEC));
    Must(namespaces_[i].ok(), Step::kNamespaces);
  }
  Failure failure;
  if (!root_.Prepare(sandbox(), &failure) || (plan_.parks && !root_.Stock(&failure))) {
    Fail(failure);
  }
  if (!plan_.hands_over_namespaces) EnterNetwork();
  if (!sandbox().hostname.empty()) {
    Must(sethostname(sandbox().hostname.data(), sandbox().hostname.size()) == 0, Step::kHostname);
  }
  // Keys of the host's session could be found and used inside (CVE-2014-9529 and others were here).
  // Where it fails there are none: no key support, or the filter of a container.
  syscall(SYS_keyctl, kKeyctlJoinSession, nullptr);
}

void Init::AwaitRequest() {
  const std::vector<SourceIdentity>& sources = root_.sources();
  const std::string_view text(reinterpret_cast<const char*>(sources.data()),
                              sources.size() * sizeof(SourceIdentity));
  // Nobody is there, or will have it: it goes.
  if (SendReport(report_, {.kind = Report::Kind::kParked}, nullptr, 0, text) != 0 ||
      ReceiveMessage(report_, &message_) != 0) {
    _exit(127);
  }
  TakeRequest();
}

void Init::TakeRequest() {
  request_.emplace(&message_, /*tells_exit=*/false);
  if (!request_->ok()) Fail(request_->plan.error);
  const ChildPlan& wanted = request_->plan;
  for (int i = 0; i < 3; ++i) child_.stdio[i] = wanted.stdio[i];
  child_.cwd = wanted.cwd;
  child_.argv = wanted.argv;
  child_.env = wanted.env;
  child_.own_session = wanted.own_session;
  child_.terminal = wanted.terminal;
}

// The helper looks meanwhile whether what is bound is still what it was.
void Init::AwaitConsent() {
  char go = 0;
  while (recv(report_, &go, 1, 0) < 0 && errno == EINTR) {
  }
  if (go != kConsent) Fail({Step::kSource, ESTALE});
}

void Init::Complete() {
  Failure failure;
  // Before anything is made there: whoever kills us leaves it to the helper.
  const auto keep = [this](int folder) {
    return SendReport(report_, {.kind = Report::Kind::kPlaceholders}, &folder, 1);
  };
  if (!root_.Complete(keep, &failure)) Fail(failure);
}

void Init::JoinNamespaces() {
  for (int i = 0; i < kNamespaceCount; ++i) {
    // The user namespace first: it gives the right to join the others.
    Must(setns(plan_.joins[i], 0) == 0, Step::kNamespaces);
  }
}

// By descriptor and without magic links: "/proc/self/fd/7" leads nowhere (CVE-2024-21626).
void Init::EnterDirectory() {
  const char* cwd = child_.cwd != nullptr && child_.cwd[0] != '\0' ? child_.cwd : "/";
  UniqueFd dir(OpenAt2(AT_FDCWD, cwd, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS));
  Must(dir.ok() && fchdir(dir.get()) == 0, Step::kDirectory);
  char path[PATH_MAX + 16];
  // Outside of the root it would begin with "(unreachable)".
  Must(syscall(SYS_getcwd, path, sizeof(path)) > 0, Step::kDirectory);
  if (path[0] != '/') Fail({Step::kDirectory, EXDEV});
  child_.cwd = nullptr;
  directory_ = std::move(dir);
}

void Init::MakeOutcome() {
  int fds[2];
  Must(pipe2(fds, O_CLOEXEC) == 0, Step::kClone);
  outcome_.reset(fds[0]);
  child_.error_fd = fds[1];
}

void Init::UseTrampoline() {
  if (!outcome_.ok()) MakeOutcome();
  snprintf(trampoline_report_, sizeof(trampoline_report_), "%d", child_.error_fd);
  trampoline_argv_.push_back(trampoline_report_);
  const char* const* word = child_.argv;
  do trampoline_argv_.push_back(*word);
  while (*word++ != nullptr);
  child_.argv = trampoline_argv_.data();
}

// The program's process loads its filter while we put the rest of the root together; of one that
// waits it waits, too.
void Init::GetReady() {
  if (!ReadyChild::Fits(sandbox()) || plan_.joins != nullptr) return;
  if (!plan_.parks && (child_.own_session || UsesLandlock(sandbox()))) return;
  if (child_.trampoline_fd >= 0) MakeOutcome();
  child_.parent = 1;
  ready_ = ReadyChild::Start(&child_, -1);
  if (ready_ == nullptr) Fail(child_.error);
  Failure failure;
  if (plan_.parks && !ready_->Await(&failure)) Fail(failure);
}

void Init::StartProgram() {
  if (child_.trampoline_fd >= 0) UseTrampoline();
  if (plan_.parks && child_.own_session) ready_.reset();
  if (ready_ == nullptr) {
    CloneProgram();
  } else {
    child_.cwd_fd = directory_.get();
    Failure failure;
    program_pidfd_ = ready_->Run(child_, &failure);
    if (program_pidfd_ < 0) Fail(failure);
    program_ = ready_->pid();
  }
  if (!outcome_.ok()) return;
  close(child_.error_fd);
  Failure failure;
  ssize_t n;
  while ((n = read(outcome_.get(), &failure, sizeof(failure))) < 0 && errno == EINTR) {
  }
  if (n != 0) Fail(n == sizeof(failure) ? failure : Failure{Step::kExec, EPROTO});
}

void Init::CloneProgram() {
  child_.parent = plan_.joins != nullptr ? 0 : 1;  // as getppid will say inside
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&program_pidfd_);
  args.exit_signal = SIGCHLD;
  const long pid =
      CloneVfork(&args, [](void* arg) { RunChild(static_cast<ChildPlan*>(arg)); }, &child_);
  if (pid < 0) Fail({Step::kClone, static_cast<int>(-pid)});
  if (!child_.error.ok()) Fail(child_.error);
  program_ = static_cast<pid_t>(pid);
}

void Init::Reap() {
  while (true) {
    int status;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) _exit(127);
    if (pid != program_) continue;
    SendReport(report_, {.kind = Report::Kind::kEnded, .status = status}, nullptr, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

void Init::Run() {
  if (child_.shares_files) FdSlots::Separate();
  child_.shares_files = false;
  // First of all, so that all it does counts; and before the descriptors are gone.
  if (const int error = cgroups::EnterGroups(child_.limit_fds, child_.limit_count)) {
    Fail({Step::kLimits, error});
  }
  child_.limit_count = 0;
  std::vector<int> keep{child_.stdio[0], child_.stdio[1], child_.stdio[2],     report_,
                        child_.gate_fd,  child_.proxy_fd, child_.trampoline_fd};
  if (plan_.joins != nullptr) keep.insert(keep.end(), plan_.joins, plan_.joins + kNamespaceCount);
  KeepOnly(std::move(keep));
  StayWithParent();
  prctl(PR_SET_NAME, "berth-init");
  // Meant for the program, which gets it itself; the one that joins is no pid 1 and would die of
  // it.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  AwaitGate();
  if (plan_.early) AwaitPlan();
  if (plan_.joins != nullptr) {
    JoinNamespaces();
  } else {
    Prepare();
  }
  Failure failure;
  if (!DropFuturePrivileges(sandbox(), &failure)) Fail(failure);
  GetReady();
  if (plan_.parks) AwaitRequest();
  if (plan_.joins == nullptr) Complete();
  EnterDirectory();
  if (!DropPrivileges(sandbox(), &failure)) Fail(failure);
  if (plan_.parks) AwaitConsent();
  StartProgram();

  int fds[1 + kNamespaceCount] = {program_pidfd_};
  int count = 1;
  if (plan_.hands_over_namespaces) {
    for (const UniqueFd& fd : namespaces_) fds[count++] = fd.get();
  }
  if (SendReport(report_, {.kind = Report::Kind::kStarted}, fds, count) != 0) _exit(127);
  // The program's streams end with the program.
  if (report_ > 3) CloseRange(3, static_cast<unsigned>(report_) - 1, 0);
  CloseRange(static_cast<unsigned>(report_) + 1, ~0u, 0);
  if (chdir("/") != 0 || !LoadInitFilter()) _exit(127);
  // A program that has ended keeps its number until it is reaped: not before the helper has read
  // it.
  char seen;
  while (recv(report_, &seen, 1, 0) < 0 && errno == EINTR) {
  }
  Reap();
}

}  // namespace

void RunInit(InitPlan* plan) { Init(plan).Run(); }

}  // namespace berth::launcher
