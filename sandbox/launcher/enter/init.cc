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
#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/network_maker.h"
#include "sandbox/launcher/enter/report.h"
#include "sandbox/launcher/enter/root.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/fd_slots.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/listener.h"

namespace berth::launcher {
namespace {

constexpr int kKeyctlJoinSession = 1;
// Made here and not by the clone that made this process, whose parent has others to serve.
constexpr int kNamespacesInside = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

class Init {
 public:
  explicit Init(InitPlan* plan)
      : plan_(*plan),
        child_(*plan->child),
        sandbox_(*child_.sandbox),
        report_(child_.report_fd),
        root_(sandbox_) {}
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
  void Prepare();
  void AwaitRequest();
  void AwaitConsent();
  void Complete();
  void JoinNamespaces();
  void EnterNetwork();
  void EnterDirectory();
  void HandOverPlaceholders();
  void StartProgram();
  [[noreturn]] void Reap();

  InitPlan& plan_;
  ChildPlan& child_;
  const SandboxPlan& sandbox_;
  const int report_;
  UniqueFd namespaces_[kNamespaceCount];
  Root root_;
  NetworkMaker network_;
  Message message_;
  std::optional<ChildRequest> request_;
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
  if (sandbox_.network == SandboxNetwork::kHost) return;
  if (const int error = network_.Enter()) Fail({Step::kNetwork, error});
  if (sandbox_.network != SandboxNetwork::kProxy) return;
  if (const int error = network::OpenDoor(child_.proxy_fd, sandbox_.proxy_port)) {
    Fail({Step::kNetwork, error});
  }
}

void Init::Prepare() {
  // One of its own for each: an empty one that is shared would save most of a millisecond, and
  // sandboxes would meet on its loopback and by its abstract sockets.
  if (sandbox_.network != SandboxNetwork::kHost) network_.Begin();
  Must(unshare(kNamespacesInside) == 0, Step::kNamespaces);
  if (const int error = MapIds(plan_.uid, plan_.gid)) Fail({Step::kIdMap, error});
  if (plan_.hands_over_namespaces) EnterNetwork();
  for (int i = 0; plan_.hands_over_namespaces && i < kNamespaceCount; ++i) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/ns/%s", kNamespaceNames[i]);
    namespaces_[i] = UniqueFd(open(path, O_RDONLY | O_CLOEXEC));
    Must(namespaces_[i].ok(), Step::kNamespaces);
  }
  Failure failure;
  if (!root_.Prepare(&failure)) Fail(failure);
  if (!plan_.hands_over_namespaces) EnterNetwork();
  if (!sandbox_.hostname.empty()) {
    Must(sethostname(sandbox_.hostname.data(), sandbox_.hostname.size()) == 0, Step::kHostname);
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
  const bool completed = root_.Complete(&failure);
  HandOverPlaceholders();
  if (!completed) Fail(failure);
}

void Init::JoinNamespaces() {
  for (int i = 0; i < kNamespaceCount; ++i) {
    // The user namespace first: it gives the right to join the others.
    Must(setns(plan_.joins[i], 0) == 0, Step::kNamespaces);
  }
}

void Init::HandOverPlaceholders() {
  for (const Placeholder& placeholder : root_.placeholders()) {
    const int fds[2] = {placeholder.directory.get(), placeholder.lock.get()};
    std::string names;
    for (size_t i = 0; i < placeholder.names.size(); ++i) {
      names.append(placeholder.names[i]).push_back('\0');
      if (i + 1 < placeholder.names.size() && names.size() + NAME_MAX < kMaxReportText) continue;
      const Report report{.kind = Report::Kind::kPlaceholder};
      if (const int error = SendReport(report_, report, fds, 2, names)) {
        Fail({Step::kReport, error});
      }
      names.clear();
    }
  }
}

// By descriptor and without magic links: "/proc/self/fd/7" leads nowhere (CVE-2024-21626).
void Init::EnterDirectory() {
  const char* cwd = child_.cwd != nullptr && child_.cwd[0] != '\0' ? child_.cwd : "/";
  const UniqueFd dir(OpenAt2(AT_FDCWD, cwd, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS));
  Must(dir.ok() && fchdir(dir.get()) == 0, Step::kDirectory);
  char path[PATH_MAX + 16];
  // Outside of the root it would begin with "(unreachable)".
  Must(syscall(SYS_getcwd, path, sizeof(path)) > 0, Step::kDirectory);
  if (path[0] != '/') Fail({Step::kDirectory, EXDEV});
  child_.cwd = nullptr;
}

void Init::StartProgram() {
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
  std::vector<int> keep{child_.stdio[0], child_.stdio[1], child_.stdio[2],
                        report_,         child_.gate_fd,  child_.proxy_fd};
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
  if (plan_.joins != nullptr) {
    JoinNamespaces();
  } else {
    Prepare();
  }
  Failure failure;
  if (!DropFuturePrivileges(sandbox_, &failure)) Fail(failure);
  if (plan_.parks) AwaitRequest();
  if (plan_.joins == nullptr) Complete();
  EnterDirectory();
  if (!DropPrivileges(sandbox_, &failure)) Fail(failure);
  if (plan_.parks) AwaitConsent();
  StartProgram();

  int fds[1 + kNamespaceCount] = {program_pidfd_};
  int count = 1;
  if (plan_.hands_over_namespaces) {
    for (const UniqueFd& fd : namespaces_) fds[count++] = fd.get();
  }
  if (SendReport(report_, {.kind = Report::Kind::kStarted}, fds, count) != 0) _exit(127);
  // The program's streams end with the program. Its placeholders stay as long as it does: their
  // locks are the helper's now.
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
