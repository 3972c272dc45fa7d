#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/kernel.h"

// The children share the caller's memory while it waits, as after vfork: system calls only, and no
// instrumentation, which would take them, and the descriptors that they open, for the caller's own.
#define BERTH_IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

namespace berth {
namespace {

struct Shared {
  KernelProbe* probe;
  char uid_map[48], gid_map[48];
};

BERTH_IN_CHILD int WriteFile(const char* path, const char* text) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = syscall(SYS_write, fd, text, strlen(text)) < 0 ? errno : 0;
  syscall(SYS_close, fd);
  return error;
}

BERTH_IN_CHILD int MapIds(const Shared& shared) {
  if (const int error = WriteFile("/proc/self/setgroups", "deny")) return error;
  if (const int error = WriteFile("/proc/self/uid_map", shared.uid_map)) return error;
  return WriteFile("/proc/self/gid_map", shared.gid_map);
}

BERTH_IN_CHILD int MakeMount(const char* type) {
  const long fs = syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
  if (fs < 0) return errno;
  if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return errno;
  return syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0) < 0 ? errno : 0;
}

BERTH_IN_CHILD void TryNamespaces(void* arg) {
  Shared* shared = static_cast<Shared*>(arg);
  KernelProbe* probe = shared->probe;
  if ((probe->map_ids = MapIds(*shared)) == 0 && (probe->make_mount = MakeMount("tmpfs")) == 0) {
    probe->mount_proc = MakeMount("proc");
  }
  launcher::RawExit(0);
}

BERTH_IN_CHILD int LoadFilter(unsigned flags) {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{1, allow};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) < 0 ? errno : 0;
}

BERTH_IN_CHILD void TrySeccomp(void* arg) {
  KernelProbe* probe = static_cast<Shared*>(arg)->probe;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    probe->seccomp = errno;
  } else {
    // The one with the listener first: there can be one in a line of filters.
    probe->seccomp_notify = LoadFilter(SECCOMP_FILTER_FLAG_NEW_LISTENER);
    probe->seccomp = LoadFilter(0);
  }
  launcher::RawExit(0);
}

// One that has done its work when it is constructed. To take its namespaces apart takes the kernel
// as long as to make them: it is waited for at the end.
class Child {
 public:
  Child(unsigned long flags, void (*body)(void*), Shared* shared) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // no handler of the host runs in the child
    clone_args args{};
    args.flags = flags;
    args.exit_signal = 0;  // no SIGCHLD, and the host's waitpid(-1) does not see it
    pid_ = launcher::CloneVfork(&args, body, shared);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  ~Child() {
    while (pid_ > 0 && waitpid(static_cast<pid_t>(pid_), nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // 0, or the errno of clone.
  int error() const { return pid_ < 0 ? static_cast<int>(-pid_) : 0; }

 private:
  long pid_;
};

std::string ReadSysctl(const char* path) {
  const UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t n = fd.ok() ? read(fd.get(), text, sizeof(text)) : -1;
  if (n <= 0) return "";
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text, static_cast<size_t>(n))));
}

}  // namespace

KernelProbe KernelProbe::Ask() {
  KernelProbe probe;
  constexpr unsigned kVersion = 1;
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersion);
  probe.landlock_version = version > 0 ? static_cast<int>(version) : 0;
  if (version < 0) probe.landlock_error = errno;
  probe.apparmor_restricts = ReadSysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  probe.userns_clone = ReadSysctl("/proc/sys/kernel/unprivileged_userns_clone");
  probe.max_user_namespaces = ReadSysctl("/proc/sys/user/max_user_namespaces");
  probe.max_net_namespaces = ReadSysctl("/proc/sys/user/max_net_namespaces");
  probe.in_container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
  return probe;
}

KernelProbe KernelProbe::Run(absl::FunctionRef<void()> meanwhile) {
  KernelProbe probe = Ask();
  Shared shared{&probe, {}, {}};
  snprintf(shared.uid_map, sizeof(shared.uid_map), "%u %u 1", geteuid(), geteuid());
  snprintf(shared.gid_map, sizeof(shared.gid_map), "%u %u 1", getegid(), getegid());
  const Child namespaces(
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
      &TryNamespaces, &shared);
  probe.make_namespaces = namespaces.error();
  if (const Child filter(0, &TrySeccomp, &shared); filter.error() != 0) {
    probe.seccomp = probe.seccomp_notify = filter.error();
  }
  meanwhile();
  return probe;
}

}  // namespace berth
