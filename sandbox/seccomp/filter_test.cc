// Each filter is loaded in a child that then really makes the calls.
#include "sandbox/seccomp/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/seccomp/test_filter.h"

namespace berth::seccomp {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

// What waitpid says of a child that has loaded the filter and run `body`, whose result is its code.
int Status(const FilterSpec& spec, const std::function<int()>& body) {
  const std::string program = Compiled(spec);
  // By number: a sanitizer's fork starts a thread, and who has threads makes no user namespace.
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (pid == 0) _exit(Load(program) != 0 ? 99 : body());
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

// The errno with which a call fails under the filter; 0: it does not.
int Try(const FilterSpec& spec, const std::function<long()>& call) {
  const int status = Status(spec, [&] { return call() < 0 ? errno : 0; });
  EXPECT_TRUE(WIFEXITED(status)) << "killed by " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

int Try(const FilterSpec& spec, long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  return Try(spec, [=] { return syscall(number, a, b, c, d); });
}

long Text(const char* text) { return reinterpret_cast<long>(text); }

TEST(Filter, LetsAShellWithPipesAndFilesRun) {
  const int status = Status(kAgent, [] {
    execl("/bin/sh", "sh", "-c", "ls / | sort >/dev/null && exec sleep 0", nullptr);
    return 98;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Filter, ThreadsStillWork) {
  const int status = Status(kAgent, [] {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, [](void* arg) { return arg; }, nullptr) != 0) return 1;
    return pthread_join(thread, nullptr);
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Filter, TheLimitOfCoreFilesStaysWhateverIsSaid) {
  const int status = Status(kAgent, [] {
    rlimit before, now;
    if (getrlimit(RLIMIT_CORE, &before) != 0) return 1;
    const rlimit other = {before.rlim_cur == 0 ? 1u : 0u, before.rlim_max};
    if (setrlimit(RLIMIT_CORE, &other) != 0) return 2;
    if (syscall(SYS_setrlimit, RLIMIT_CORE, &other) != 0) return 3;
    // The upper half of the register is not looked at by the kernel.
    if (syscall(SYS_prlimit64, 0, RLIMIT_CORE | (1L << 40), &other, nullptr) != 0) return 4;
    if (getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur != before.rlim_cur) return 5;
    const rlimit files = {64, 64};
    if (setrlimit(RLIMIT_NOFILE, &files) != 0 || getrlimit(RLIMIT_NOFILE, &now) != 0) return 6;
    return now.rlim_cur == 64 ? 0 : 7;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Filter, RefusesNamespacesButNotForks) {
  EXPECT_EQ(Try(kAgent, SYS_clone3, 0, 0), ENOSYS);
  for (const long flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                          CLONE_NEWPID, CLONE_NEWNET}) {
    EXPECT_EQ(Try(kAgent, SYS_clone, flag | SIGCHLD), EPERM) << std::hex << flag;
    EXPECT_EQ(Try(kAgent, SYS_unshare, flag), EPERM) << std::hex << flag;
    // The upper half of the register is not looked at by the kernel, nor may it be by the filter.
    EXPECT_EQ(Try(kAgent, SYS_unshare, flag | (1L << 40)), EPERM) << std::hex << flag;
  }
  EXPECT_EQ(Try(kAgent, SYS_unshare, 0x80), EPERM) << "CLONE_NEWTIME";
  EXPECT_EQ(Try(kAgent, SYS_unshare, CLONE_FILES), 0);
  EXPECT_EQ(Try(kAgent, SYS_setns, 0, 0), EPERM);
  EXPECT_EQ(Try(kAgent,
                [] {
                  const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
                  if (pid == 0) _exit(0);
                  return pid;
                }),
            0);
}

// With arguments that the kernel itself refuses otherwise, so that the errno is the filter's.
TEST(Filter, RefusesWhatReachesAroundASandbox) {
  for (const long number : {SYS_mount,
                            SYS_umount2,
                            SYS_pivot_root,
                            SYS_chroot,
                            SYS_move_mount,
                            SYS_open_tree,
                            SYS_fsopen,
                            SYS_fsmount,
                            SYS_fsconfig,
                            SYS_fspick,
                            SYS_mount_setattr,
                            SYS_bpf,
                            SYS_perf_event_open,
                            SYS_userfaultfd,
                            SYS_kexec_load,
                            SYS_init_module,
                            SYS_finit_module,
                            SYS_delete_module,
                            SYS_open_by_handle_at,
                            SYS_acct,
                            SYS_swapon,
                            SYS_swapoff,
                            SYS_quotactl,
                            SYS_add_key,
                            SYS_keyctl,
                            SYS_request_key,
                            SYS_ptrace,
                            SYS_process_vm_readv,
                            SYS_process_vm_writev,
                            SYS_kcmp,
                            SYS_pidfd_getfd,
                            SYS_reboot,
                            SYS_settimeofday,
                            SYS_clock_settime,
                            SYS_name_to_handle_at,
                            SYS_syslog,
                            SYS_sethostname}) {
    EXPECT_EQ(Try(kAgent, number, -1, -1, -1, -1), EPERM) << number;
  }
  for (const long number : {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}) {
    EXPECT_EQ(Try(kAgent, number, -1, -1, -1, -1), ENOSYS) << number;
  }
  EXPECT_EQ(Try(kAgent, 4000), ENOSYS) << "a call that there is not yet";
#if defined(__x86_64__)
  EXPECT_EQ(Try(kAgent, SYS_iopl, 3), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_ioperm, 0, 1, 1), EPERM);
#endif
}

// CVE-2017-5226, CVE-2019-10063.
TEST(Filter, RefusesToTypeOnATerminalWhateverTheUpperBits) {
  for (const unsigned long request : {TIOCSTI, TIOCLINUX, TIOCSETD}) {
    for (const unsigned long upper : {0ul, 1ul << 32, 0xfffffffful << 32, 1ul << 63}) {
      EXPECT_EQ(Try(kAgent, SYS_ioctl, -1, static_cast<long>(request | upper)), EPERM)
          << std::hex << (request | upper);
    }
  }
}

TEST(Filter, LetsAllOtherTerminalRequestsPass) {
  // All of the terminal's own page, and some with upper bits, as musl has them.
  for (long request = 0x5400; request < 0x5480; ++request) {
    const bool bad = request == TIOCSTI || request == TIOCLINUX || request == TIOCSETD;
    EXPECT_EQ(Try(kAgent, SYS_ioctl, -1, request), bad ? EPERM : EBADF) << std::hex << request;
  }
  for (const long request : {0x0l, 0x80045430l, -0x7ffbabd0l, 0xc0045877l, 0xffffffffl, 0x15412l}) {
    EXPECT_EQ(Try(kAgent, SYS_ioctl, -1, request), EBADF) << std::hex << request;
  }
}

// ESCAPES.md, row 12.
TEST(Filter, GivesSocketsOfTheListedFamiliesOnly) {
  EXPECT_EQ(Try(kAgent, SYS_socket, AF_UNIX, SOCK_STREAM, 0), 0);
  EXPECT_EQ(Try(kAgent, SYS_socket, AF_INET, SOCK_STREAM, 0), 0);
  for (long family = 0; family < 64; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    EXPECT_EQ(Try(kAgent, SYS_socket, family, SOCK_RAW, 0), EPERM) << family;
    EXPECT_EQ(Try(kAgent, SYS_socket, family | (7L << 32), SOCK_RAW, 0), EPERM) << family;
  }
  EXPECT_EQ(Try(kAgent, SYS_socket, -1, SOCK_STREAM, 0), EPERM);
  const FilterSpec netlink = {.sockets = {AF_NETLINK}};
  EXPECT_EQ(Try(netlink, SYS_socket, AF_NETLINK, SOCK_RAW, 0), 0);
  EXPECT_NE(Try(netlink, SYS_socket, AF_NETLINK, SOCK_RAW, 9), 0) << "NETLINK_AUDIT";
}

TEST(Filter, WithoutUnixSocketsThereArePairsThatLeadNowhereElse) {
  const FilterSpec none = {};
  int pair[2];
  const auto make = [&pair](int family, int type) {
    return [&pair, family, type] { return static_cast<long>(socketpair(family, type, 0, pair)); };
  };
  EXPECT_EQ(Try(none, make(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)), 0);
  EXPECT_EQ(Try(none, make(AF_UNIX, SOCK_SEQPACKET)), 0);
  EXPECT_NE(Try(none, make(AF_UNIX, SOCK_DGRAM)), 0);
  EXPECT_EQ(Try(none, SYS_socket, AF_UNIX, SOCK_STREAM, 0), EPERM);
  EXPECT_EQ(Try(kAgent, make(AF_UNIX, SOCK_DGRAM)), 0);
}

TEST(Filter, KeepsPersonalityAndPrctlToWhatIsHarmless) {
  EXPECT_EQ(Try(kAgent, SYS_personality, 0xffffffff), 0);
  EXPECT_EQ(Try(kAgent, SYS_personality, PER_LINUX), 0);
  EXPECT_EQ(Try(kAgent, SYS_personality, ADDR_NO_RANDOMIZE), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_personality, READ_IMPLIES_EXEC), EPERM);
  EXPECT_EQ(Try({.debugging = true}, SYS_personality, ADDR_NO_RANDOMIZE), 0);
  EXPECT_EQ(Try(kAgent, SYS_prctl, PR_SET_MM, 0, 0), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_prctl, PR_GET_DUMPABLE), 0);
  EXPECT_EQ(Try(kAgent, SYS_prctl, 59), ENOSYS) << "PR_SET_SYSCALL_USER_DISPATCH";
}

TEST(Filter, MakesFifosButNoDevices) {
  EXPECT_EQ(Try(kAgent, SYS_mknodat, -1, reinterpret_cast<long>("x"), S_IFIFO | 0600), EBADF);
  EXPECT_EQ(Try(kAgent, SYS_mknodat, -1, reinterpret_cast<long>("x"), S_IFCHR | 0600), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_mknodat, -1, reinterpret_cast<long>("x"), S_IFBLK | 0600), EPERM);
}

TEST(Filter, NothingBecomesSetUserIdWhateverTheCall) {
  for (const long bits : {S_ISUID | 0755, S_ISGID | 0755, S_ISUID | S_ISGID | 0755}) {
    EXPECT_EQ(Try(kAgent, SYS_chmod, Text("/no/such"), bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_fchmod, -1, bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_fchmodat, AT_FDCWD, Text("/no/such"), bits), EPERM);
    EXPECT_EQ(Try(kAgent, 452 /* fchmodat2 */, AT_FDCWD, Text("/no/such"), bits, 0), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_creat, Text("/no/such/x"), bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_open, Text("/no/such/x"), O_CREAT | O_WRONLY, bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_openat, AT_FDCWD, Text("/no/such/x"), O_CREAT, bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_openat, AT_FDCWD, Text("/no/such"), O_TMPFILE | O_RDWR, bits), EPERM);
    EXPECT_EQ(Try(kAgent, SYS_mknod, Text("/no/such/x"), S_IFREG | bits), EPERM);
    // The upper half of the register is not looked at by the kernel.
    EXPECT_EQ(Try(kAgent, SYS_chmod, Text("/no/such"), bits | (1L << 40)), EPERM);
  }
  for (const long bits : {0755, 0777, S_ISVTX | 0777}) {
    EXPECT_EQ(Try(kAgent, SYS_chmod, Text("/no/such"), bits), ENOENT);
    EXPECT_EQ(Try(kAgent, SYS_fchmod, -1, bits), EBADF);
    EXPECT_EQ(Try(kAgent, SYS_openat, AT_FDCWD, Text("/no/such/x"), O_CREAT, bits), ENOENT);
    EXPECT_EQ(Try(kAgent, SYS_mknod, Text("/no/such/x"), S_IFREG | bits), ENOENT);
  }
  // Without O_CREAT there is no mode, and any bits may lie there.
  EXPECT_EQ(Try(kAgent, SYS_openat, AT_FDCWD, Text("/"), O_RDONLY, -1), 0);
  EXPECT_EQ(Try(kAgent, SYS_open, Text("/"), O_RDONLY | O_DIRECTORY, -1), 0);
  // Its mode is in memory, where a filter cannot look.
  EXPECT_EQ(Try(kAgent, SYS_openat2, AT_FDCWD, Text("/"), 0, 0), ENOSYS);
}

TEST(Filter, WithoutAPidNamespaceOthersLimitsAndPrioritiesStay) {
  FilterSpec shared = kAgent;
  shared.own_pids = false;
  const long other = getpid();
  for (const long high : {0L, 1L << 40}) {
    EXPECT_EQ(Try(shared, SYS_prlimit64, other | high, RLIMIT_NOFILE, 0, 0), EPERM);
    EXPECT_EQ(Try(shared, SYS_sched_setaffinity, other | high, 0, 0), EPERM);
    EXPECT_EQ(Try(shared, SYS_sched_setscheduler, other | high, -1, 0), EPERM);
    EXPECT_EQ(Try(shared, SYS_setpriority, high, other, 19), EPERM);
    EXPECT_EQ(Try(shared, SYS_setpriority, 0, other | high, 19), EPERM);
    EXPECT_EQ(Try(shared, SYS_ioprio_set, 1 | high, other, 0), EPERM);
  }
  EXPECT_EQ(Try(shared, SYS_setpriority, PRIO_USER, 0, 19), EPERM);
  EXPECT_EQ(Try(shared, SYS_setpriority, PRIO_PGRP, 0, 19), EPERM);
  EXPECT_EQ(Try(shared, SYS_setpriority, PRIO_PROCESS, 0, 19), 0);
  EXPECT_EQ(Try(shared, SYS_prlimit64, 0, RLIMIT_NOFILE, 0, 0), 0);
  EXPECT_EQ(Try(shared, SYS_prlimit64, 0, RLIMIT_CORE, 0, 0), 0);
  const rlimit other_core{7, 7};
  EXPECT_EQ(Try(shared,
                [&] {
                  rlimit before, now;
                  getrlimit(RLIMIT_CORE, &before);
                  setrlimit(RLIMIT_CORE, &other_core);
                  getrlimit(RLIMIT_CORE, &now);
                  return now.rlim_cur == before.rlim_cur ? 0L : -1L;
                }),
            0);
  EXPECT_NE(Try(shared, SYS_sched_setaffinity, 0, 0, 0), EPERM);
  EXPECT_EQ(Try(kAgent, SYS_prlimit64, other, RLIMIT_NOFILE, 0, 0), 0);
}

TEST(Filter, DebuggingAndQueuesAreAsAsked) {
  EXPECT_EQ(Try({.debugging = true}, SYS_ptrace, 0, 0, 0, 0), 0) << "PTRACE_TRACEME";
  EXPECT_EQ(Try({.ipc = false}, SYS_shmget, 0, 4096, 0), EPERM);
  EXPECT_EQ(Try({.ipc = true}, SYS_shmget, 0, 0, 0), EINVAL);
  EXPECT_EQ(Try({.namespaces = true}, SYS_unshare, CLONE_NEWUSER), 0);
}

TEST(Filter, DeniesWhatThePolicyNamesBesides) {
  const FilterSpec spec = {.sockets = {AF_UNIX}, .deny = {"getcwd", "ioctl", "socket", "mount"}};
  char buffer[64];
  EXPECT_EQ(Try(spec, SYS_getcwd, reinterpret_cast<long>(buffer), 64), EPERM);
  EXPECT_EQ(Try(spec, SYS_ioctl, -1, 0), EPERM);
  EXPECT_EQ(Try(spec, SYS_socket, AF_UNIX, SOCK_STREAM, 0), EPERM);
  EXPECT_EQ(Try(spec, SYS_mount), EPERM);
  EXPECT_THAT(CompileFilter({.deny = {"no_such_call"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'no_such_call'")));
}

#if defined(__x86_64__)
// ESCAPES.md, row 9.
TEST(Filter, EndsWhatMakesForeignCalls) {
  const int i386 = Status(kAgent, [] { return Int80(20) > 0 ? 1 : 2; });
  EXPECT_TRUE(WIFSIGNALED(i386));
  EXPECT_EQ(WTERMSIG(i386), SIGSYS);
  const int x32 = Status(kAgent, [] { return syscall(0x40000000 | SYS_getpid) > 0 ? 1 : 2; });
  EXPECT_TRUE(WIFSIGNALED(x32));
  EXPECT_EQ(WTERMSIG(x32), SIGSYS);
}
#endif

TEST(Filter, IsTheSameEachTimeAndFitsTheKernel) {
  const FilterSpec spec = {
      .sockets = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}, .notify = true, .notify_connect = true};
  const std::string program = Compiled(spec);
  EXPECT_EQ(program, Compiled(spec));
  EXPECT_EQ(program.size() % sizeof(sock_filter), 0);
  EXPECT_LT(program.size() / sizeof(sock_filter), BPF_MAXINSNS / 2);
  RecordProperty("instructions", static_cast<int>(program.size() / sizeof(sock_filter)));
}

}  // namespace
}  // namespace berth::seccomp
