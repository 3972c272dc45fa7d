#include "tests/docker/dockerd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kStartTime = absl::Seconds(60);

// Children first: a cgroup with groups in it cannot be removed.
void RemoveGroup(const std::string& path) {
  std::error_code error;
  std::vector<std::string> below;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error)) below.push_back(entry.path());
  }
  for (const std::string& each : below) RemoveGroup(each);
  rmdir(path.c_str());
}

void RemoveGroups(const std::string& name) {
  std::error_code error;
  RemoveGroup("/sys/fs/cgroup/" + name);
  for (const auto& hierarchy : fs::directory_iterator("/sys/fs/cgroup", error)) {
    if (hierarchy.is_directory(error) && !hierarchy.is_symlink(error)) {
      RemoveGroup(hierarchy.path().string() + "/" + name);
    }
  }
}

bool AllStopped(pid_t pid) {
  std::error_code error;
  for (const auto& task : fs::directory_iterator(absl::StrCat("/proc/", pid, "/task"), error)) {
    std::ifstream file(task.path() / "stat");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const size_t name_end = text.rfind(')');
    // "T" is stopped. A thread that is gone meanwhile has no text.
    if (name_end != std::string::npos && text.substr(name_end, 3) != ") T") return false;
  }
  return !error;
}

// The guardian's part. Single-threaded, a copy of the test's memory: only what is simple.
class Guardian {
 public:
  Guardian(std::string folder, std::string group, DockerEngine::Options options)
      : folder_(std::move(folder)), group_(std::move(group)), options_(std::move(options)) {}

  [[noreturn]] void Run(int socket) {
    prctl(PR_SET_NAME, "dockerd-guard");
    char command;
    while (read(socket, &command, 1) == 1) {
      bool done = false;
      if (command == 's') done = StartEngine();
      if (command == 'k') done = KillEngine();
      if (command == 'r') done = AwaitReady();
      if (write(socket, done ? "+" : "-", 1) != 1) break;
    }
    KillEngine();
    RemoveGroups(group_);
    if (options_.podman) RemoveGroups("libpod_parent");
    std::error_code error;
    fs::remove_all(folder_, error);
    _exit(0);
  }

 private:
  bool KillEngine() {
    if (engine_ <= 0) return true;
    // The parent of the namespaces' first process, which dies with it, and with that one the rest.
    kill(engine_, SIGKILL);
    waitpid(engine_, nullptr, 0);
    engine_ = -1;
    // unshare's child is ours now; once it is reaped, nothing of its pid namespace is left.
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    return true;
  }

  bool StartEngine() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    notify_.reset(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", folder_.c_str());
    unlink(address.sun_path);
    if (bind(notify_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      return false;
    engine_ = fork();
    if (engine_ == 0) Exec();
    return AwaitReady();
  }

  bool AwaitReady() {
    while (true) {
      if (!WaitFd(notify_.get(), POLLIN, absl::Now() + kStartTime, "").ok()) return false;
      char text[512];
      const ssize_t n = recv(notify_.get(), text, sizeof(text) - 1, 0);
      if (n <= 0) return false;
      text[n] = '\0';
      if (strstr(text, "READY=1") != nullptr) return true;
    }
  }

  [[noreturn]] void Exec() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    const std::string log = folder_ + "/log";
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    setenv("D", folder_.c_str(), 1);
    setenv("G", group_.c_str(), 1);
    setenv("NOTIFY_SOCKET", (folder_ + "/notify").c_str(), 1);
    setenv("TMPDIR", folder_.c_str(), 1);
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    // Of a process that a container's shim left: an init reaps it. A network of its own, because
    // dockerd turns forwarding on.
    const std::string daemon = absl::StrCat(
        "dockerd --data-root $D/data --exec-root $D/exec --pidfile $D/dockerd.pid "
        "-H unix://$D/docker.sock --config-file $D/empty.json --cgroup-parent=/$G "
        "--bip 172.31.99.1/24 ",
        options_.flags);
    // Podman has its settings in files and its state in /run; no network is asked of it. Its
    // monitor notes in its working directory that memory ran out.
    const std::string podman =
        "mount -t tmpfs none /run && mount -t tmpfs none /etc/containers && "
        "echo '{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}' "
        ">/etc/containers/policy.json; "
        "export CONTAINERS_CONF=$D/containers.conf CONTAINERS_STORAGE_CONF=$D/storage.conf; "
        "printf "
        "'[engine]\\nruntime=\"runc\"\\nevents_logger=\"file\"\\nlock_type=\"file\"\\ncgroup_"
        "manager=\"cgroupfs\"\\n"
        "[containers]\\ncgroupns=\"host\"\\n' >$CONTAINERS_CONF; "
        "printf '[storage]\\ndriver=\"vfs\"\\ngraphroot=\"%s/data\"\\nrunroot=\"%s/exec\"\\n' $D "
        "$D "
        ">$CONTAINERS_STORAGE_CONF; "
        "cd $D; exec docker-init -- podman --cgroup-manager cgroupfs system service -t 0 "
        "unix://$D/docker.sock";
    const std::string clean = "rm -rf $D/dockerd.pid $D/exec/containerd/*.pid; ";
    const std::string line =
        options_.podman ? podman
        : options_.restarts
            ? absl::StrCat("exec docker-init -- sh -c 'while rm -f $D/dockerd.pid; do ", daemon,
                           "; done'")
            : absl::StrCat(clean, "exec docker-init -- ", daemon);
    execlp("unshare", "unshare", "-m", options_.own_network ? "-n" : "-m", "-p", "-f",
           "--kill-child", "--mount-proc", "sh", "-c", ("ip link set lo up; " + line).c_str(),
           static_cast<char*>(nullptr));
    _exit(127);
  }

  const std::string folder_, group_;
  const DockerEngine::Options options_;
  UniqueFd notify_;
  pid_t engine_ = -1;
};

constexpr char kMakeImage[] =
    "set -e; r=$D/image; mkdir -p $r/bin $r/tmp $r/etc $r/root $r/home; chmod 1777 $r/tmp; "
    "cp /bin/busybox $r/bin/busybox; "
    "for a in $($r/bin/busybox --list); do [ $a = busybox ] || ln -s busybox $r/bin/$a; done; "
    "echo root:x:0:0:root:/root:/bin/sh >$r/etc/passwd; "
    "echo user:x:1000:1000:user:/home:/bin/sh >>$r/etc/passwd; "
    "echo root:x:0: >$r/etc/group; echo user:x:1000: >>$r/etc/group; "
    "tar -C $r -c . | docker import -c 'ENV PATH=/bin' -c 'ENV FROM_IMAGE=yes' - bb:1 >/dev/null; "
    "rm -rf $r";

}  // namespace

absl::Status EnterOwnNetwork() {
  if (unshare(CLONE_NEWNET) != 0) return ErrnoStatus(errno, "make a network namespace");
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback{};
  snprintf(loopback.ifr_name, sizeof(loopback.ifr_name), "lo");
  loopback.ifr_flags = IFF_UP;
  if (ioctl(fd.get(), SIOCSIFFLAGS, &loopback) != 0) return ErrnoStatus(errno, "raise loopback");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DockerEngine>> DockerEngine::Start(const Options& options) {
  if (geteuid() != 0) return absl::FailedPreconditionError("a dockerd needs root");
  const char* program = options.podman ? "/usr/bin/podman" : "/usr/sbin/dockerd";
  if (access(program, X_OK) != 0)
    return absl::FailedPreconditionError(absl::StrCat("there is no ", program));
  auto engine = absl::WrapUnique(new DockerEngine);
  std::string folder = "/dev/shm/berth-dXXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, "make a folder in /dev/shm");
  engine->folder_ = folder;
  engine->socket_ = folder + "/docker.sock";
  std::ofstream(folder + "/empty.json") << "{}";
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return ErrnoStatus(errno, "make a socket");
  engine->guardian_ = UniqueFd(pair[0]);
  const UniqueFd theirs(pair[1]);
  // Twice, so that the guardian is no child of the test's, and setsid, so that a signal for the
  // test's group leaves it to clean up.
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork the guardian");
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    engine->guardian_.reset();
    Guardian(folder, absl::StrCat("berth-test-", folder.substr(folder.rfind('-') + 1)), options)
        .Run(theirs.get());
  }
  waitpid(child, nullptr, 0);
  ABSL_RETURN_IF_ERROR(engine->Ask('s'));
  ABSL_RETURN_IF_ERROR(engine->Shell(kMakeImage).status());
  return engine;
}

absl::StatusOr<std::unique_ptr<DockerEngine>> DockerEngine::Start() {
  const char* which = getenv("BERTH_TEST_ENGINE");
  return Start({.podman = which != nullptr && strcmp(which, "podman") == 0});
}

DockerEngine::~DockerEngine() {
  // It closes its end once everything is removed.
  shutdown(guardian_.get(), SHUT_WR);
  WaitFd(guardian_.get(), POLLRDHUP, absl::Now() + kStartTime, "wait for the engine's guardian")
      .IgnoreError();
}

absl::Status DockerEngine::Ask(char command) {
  if (write(guardian_.get(), &command, 1) != 1) return ErrnoStatus(errno, "ask the guardian");
  ABSL_RETURN_IF_ERROR(
      WaitFd(guardian_.get(), POLLIN, absl::Now() + 2 * kStartTime, "wait for the guardian"));
  char answer = '-';
  if (read(guardian_.get(), &answer, 1) != 1 || answer != '+') {
    std::ifstream log(folder_ + "/log");
    return absl::UnavailableError(absl::StrCat(
        "dockerd did not start: ", std::string(std::istreambuf_iterator<char>(log), {})));
  }
  return absl::OkStatus();
}

absl::Status DockerEngine::Kill() { return Ask('k'); }
absl::Status DockerEngine::Restart() { return Ask('s'); }
absl::Status DockerEngine::KillDaemon() {
  ABSL_ASSIGN_OR_RETURN(const pid_t pid, DaemonPid());
  if (kill(pid, SIGKILL) != 0) return ErrnoStatus(errno, "kill dockerd");
  return Ask('r');
}

absl::StatusOr<pid_t> DockerEngine::DaemonPid() const {
  std::error_code error;
  const std::string mark = absl::StrCat("--data-root", std::string(1, '\0'), folder_, "/data");
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    pid_t pid;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream file(absl::StrCat("/proc/", pid, "/cmdline"));
    const std::string line(std::istreambuf_iterator<char>(file), {});
    if (absl::StartsWith(line, "dockerd") && absl::StrContains(line, mark)) return pid;
  }
  return absl::NotFoundError("dockerd does not run");
}

absl::Status DockerEngine::Freeze() {
  ABSL_ASSIGN_OR_RETURN(const pid_t pid, DaemonPid());
  if (kill(pid, SIGSTOP) != 0) return ErrnoStatus(errno, "stop dockerd");
  // The kernel tells only a parent when the last thread has stopped, and that is not us: until then
  // one may still answer.
  const absl::Time deadline = absl::Now() + kStartTime;
  while (!AllStopped(pid)) {
    if (absl::Now() > deadline) return absl::DeadlineExceededError("dockerd does not stop");
    sched_yield();
  }
  return absl::OkStatus();
}

absl::Status DockerEngine::Thaw() {
  ABSL_ASSIGN_OR_RETURN(const pid_t pid, DaemonPid());
  return kill(pid, SIGCONT) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "continue dockerd");
}

absl::StatusOr<std::string> DockerEngine::Shell(const std::string& line) const {
  const std::string whole = absl::StrCat("export D=", folder_, " DOCKER_HOST=", address(),
                                         " DOCKER_CONFIG=", folder_, "; ", line);
  FILE* pipe = popen(whole.c_str(), "re");
  if (pipe == nullptr) return ErrnoStatus(errno, "run a shell");
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  if (status != 0) return absl::UnknownError(absl::StrCat("'", line, "' gave status ", status));
  return text;
}

}  // namespace berth
