#include "sandbox/benchmark/floors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "sandbox/launcher/kernel.h"

namespace berth {
namespace {

using Kind = launcher::SandboxMount::Kind;

// In a child that shares its parent's memory: no more than a word on stderr.
void Must(bool done, const char* what) {
  if (done) return;
  dprintf(2, "floor: %s: %s\n", what, strerrordesc_np(errno));
  _exit(126);
}

void WriteFile(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  Must(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
  close(fd);
}

void MapIds(const FloorPlan& floor) {
  WriteFile("/proc/self/setgroups", "deny");
  WriteFile("/proc/self/uid_map", floor.uid_map);
  WriteFile("/proc/self/gid_map", floor.gid_map);
}

void BringUpLoopback() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  Must(ioctl(fd, SIOCSIFFLAGS, &request) == 0, "lo");
  close(fd);
}

void MakePlace(const char* path, bool directory) {
  char part[4096];
  for (size_t i = 1; path[i] != '\0'; ++i) {
    if (path[i] != '/') continue;
    memcpy(part, path, i);
    part[i] = '\0';
    mkdir(part, 0755);
  }
  if (directory) {
    mkdir(path, 0755);
  } else {
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444));
  }
}

// Targets are names below `place`.
void MakeRoot(const FloorPlan& floor) {
  Must(mount("", "/", nullptr, MS_SLAVE | MS_REC, nullptr) == 0, "propagation");
  Must(mount("tmpfs", floor.place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0, "root");
  for (const FloorPlan::Mount& each : floor.mounts) {
    const char* target = each.target.c_str();
    MakePlace(target, each.directory);
    if (each.source.empty()) {
      Must(mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0, target);
      continue;
    }
    Must(mount(each.source.c_str(), target, nullptr, MS_BIND | MS_REC, nullptr) == 0, target);
    const unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID | (each.read_only ? MS_RDONLY : 0);
    Must(mount(nullptr, target, nullptr, flags, nullptr) == 0, "remount");
  }
  Must(chdir(floor.place.c_str()) == 0, "chdir");
  Must(mkdir("proc", 0555) == 0 &&
           mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0,
       "proc");
  Must(syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir("/") == 0,
       "pivot");
}

void Confine() {
  const rlimit files{65536, 65536}, core{1, 1};
  setrlimit(RLIMIT_NOFILE, &files);
  setrlimit(RLIMIT_CORE, &core);
  for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; ++cap) {
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  Must(syscall(SYS_capset, &header, none) == 0, "capset");
  Must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
}

void Filter(const FloorPlan& floor) {
  const sock_fprog program{
      static_cast<unsigned short>(floor.filter.size() / sizeof(sock_filter)),
      const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(floor.filter.data()))};
  Must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "filter");
}

[[noreturn]] void Exec(const FloorPlan& floor, int out) {
  char* argv[] = {const_cast<char*>(floor.program.c_str()), nullptr};
  char* env[] = {nullptr};
  dup2(out, 1);
  execve(argv[0], argv, env);
  _exit(126);
}

struct Start {
  const launcher::SandboxPlan* plan = nullptr;
  const FloorPlan* floor;
  int out;
  bool network = false;
};

pid_t Clone(uint64_t flags, void (*body)(void*), Start* start) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  const long pid = launcher::CloneVfork(&args, body, start);
  CHECK_GT(pid, 0) << strerrordesc_np(static_cast<int>(-pid));
  return static_cast<pid_t>(pid);
}

constexpr uint64_t kInner =
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

}  // namespace

FloorPlan FloorPlan::From(const launcher::SandboxPlan& plan, std::string filter, std::string place,
                          std::string program) {
  FloorPlan floor;
  floor.filter = std::move(filter);
  floor.place = std::move(place);
  floor.program = std::move(program);
  const auto add = [&floor](const std::string& source, const std::string& target, bool read_only) {
    struct stat st;
    CHECK(source.empty() || stat(source.c_str(), &st) == 0) << source;
    floor.mounts.push_back(
        {source, floor.place + target, source.empty() || S_ISDIR(st.st_mode), read_only});
  };
  for (const launcher::SandboxMount& mount : plan.mounts) {
    if (mount.kind == Kind::kBind) add(mount.source, mount.target, mount.read_only);
    if (mount.kind == Kind::kTmpfs) add("", mount.target, false);
    if (mount.kind != Kind::kDev) continue;
    for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
      add(absl::StrCat("/dev/", name), absl::StrCat("/dev/", name), false);
    }
    add("", "/dev/shm", false);
  }
  snprintf(floor.uid_map, sizeof(floor.uid_map), "%u %u 1", geteuid(), geteuid());
  snprintf(floor.gid_map, sizeof(floor.gid_map), "%u %u 1", getegid(), getegid());
  return floor;
}

void LoadFilter(const FloorPlan& floor) {
  Must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  Filter(floor);
}

pid_t StartLandlocked(const launcher::SandboxPlan& plan, const FloorPlan& floor, int out) {
  Start start{.plan = &plan, .floor = &floor, .out = out};
  const auto body = [](void* arg) {
    const Start& self = *static_cast<Start*>(arg);
    Confine();
    const uint64_t attributes[3] = {self.plan->landlock_fs, 0, self.plan->landlock_scope};
    const int rules =
        static_cast<int>(syscall(SYS_landlock_create_ruleset, attributes, sizeof(attributes), 0));
    Must(rules >= 0, "ruleset");
    for (const launcher::LandlockRule& rule : self.plan->landlock) {
      landlock_path_beneath_attr beneath{};
      beneath.parent_fd = open(rule.path.c_str(), O_PATH | O_CLOEXEC);
      struct stat st;
      if (beneath.parent_fd < 0 || fstat(beneath.parent_fd, &st) != 0) continue;
      constexpr uint64_t kFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                 LANDLOCK_ACCESS_FS_READ_FILE | (3u << 14);
      beneath.allowed_access = rule.access & (S_ISDIR(st.st_mode) ? ~uint64_t{0} : kFile);
      Must(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0,
           rule.path.c_str());
      close(beneath.parent_fd);
    }
    Must(syscall(SYS_landlock_restrict_self, rules, 0) == 0, "landlock");
    Filter(*self.floor);
    Exec(*self.floor, self.out);
  };
  return Clone(0, body, &start);
}

pid_t StartEnclosed(const FloorPlan& floor, bool network, int out) {
  Start start{.floor = &floor, .out = out, .network = network};
  const auto body = [](void* arg) {
    const Start& self = *static_cast<Start*>(arg);
    MapIds(*self.floor);
    if (self.network) BringUpLoopback();
    MakeRoot(*self.floor);
    Must(sethostname("berth", 5) == 0, "hostname");
    Confine();
    Filter(*self.floor);
    Exec(*self.floor, self.out);
  };
  return Clone(kInner | (network ? CLONE_NEWNET : 0), body, &start);
}

Template::Template(const FloorPlan& floor, int out) {
  int pair[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  channel_.reset(pair[0]);
  clone_args args{};
  args.flags = kInner | CLONE_NEWNET;
  args.exit_signal = SIGCHLD;
  pid_ = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof(args)));
  CHECK_GE(pid_, 0);
  if (pid_ > 0) {
    close(pair[1]);
    return;
  }
  close(pair[0]);
  MapIds(floor);
  BringUpLoopback();
  MakeRoot(floor);
  const auto body = [](void* arg) {
    const Start& self = *static_cast<Start*>(arg);
    MapIds(*self.floor);
    Must(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0, "tmp");
    Must(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "proc");
    Confine();
    Filter(*self.floor);
    Exec(*self.floor, self.out);
  };
  Start start{.floor = &floor, .out = out};
  for (char byte; recv(pair[1], &byte, 1, 0) == 1;) {
    const pid_t child = Clone(kInner, body, &start);
    int status = 0;
    waitpid(child, &status, 0);
    byte = status == 0 ? 'y' : 'n';
    if (send(pair[1], &byte, 1, MSG_NOSIGNAL) != 1) break;
  }
  _exit(0);
}

Template::~Template() {
  channel_.reset();
  waitpid(pid_, nullptr, 0);
}

void Template::Run() const {
  char byte = 'r';
  CHECK_EQ(send(channel_.get(), &byte, 1, MSG_NOSIGNAL), 1);
  CHECK_EQ(recv(channel_.get(), &byte, 1, 0), 1);
  CHECK_EQ(byte, 'y') << "the template's program failed";
}

}  // namespace berth
