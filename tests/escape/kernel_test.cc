// Rows 6, 7, 11, 12 and 24 of the list of escapes: mounts, namespaces, and the parts of the kernel
// that no agent needs.

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "tests/escape/escape_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class KernelTest : public EscapeTest {};

// --- 6: mounts ---

const Actor kMounts("mounts", [](const std::vector<std::string>& args) {
  const char* here = args[0].c_str();
  Say("second proc", mount("proc", here, "proc", 0, nullptr));
  Say("tmpfs", mount("t", here, "tmpfs", 0, nullptr));
  Say("overlay", mount("o", here, "overlay", 0, "lowerdir=/usr:/etc"));
  Say("remount", mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr));
  Say("remount of the root", mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr));
  Say("shared", mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr));
  Say("bind", mount("/usr", here, nullptr, MS_BIND, nullptr));
  Say("move", mount("/usr", here, nullptr, MS_MOVE, nullptr));
  for (const char* place : {"/proc/sys", "/proc", "/dev", "/usr", "/", here}) {
    Say(absl::StrCat("unmount ", place), umount2(place, MNT_DETACH));
  }
  Say("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 /* OPEN_TREE_CLONE */));
  Say("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, here, 0));
  struct {
    uint64_t set = 0, clear = 1 /* MOUNT_ATTR_RDONLY */, propagation = 0, userns = 0;
  } attributes;
  Say("mount_setattr",
      syscall(SYS_mount_setattr, AT_FDCWD, "/usr", 0, &attributes, sizeof(attributes)));
  Say("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
  Say("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
  Say("pivot_root", syscall(SYS_pivot_root, ".", "."));
  Say("chroot", chroot(here));
  return 0;
});

TEST_P(KernelTest, NoMountCanBeMadeMovedRemountedOrTakenOff) {
  const Outcome outcome = Try({"mounts", work_});
  EXPECT_THAT(outcome.out, HasSubstr("chroot: Operation not permitted"));
  Held(6,
       "mount a second /proc, unmount what hides, remount writable, move_mount, open_tree, chroot",
       !AnyDone(outcome));
}

// --- 7: namespaces ---

const Actor kNamespaces("namespaces", [](const std::vector<std::string>&) {
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC,
                         CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */}) {
    Say(absl::StrCat("unshare ", flag), unshare(flag));
    if (flag != 0x80) {  // of clone, these bits are the signal
      const long pid = syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
      if (pid == 0) _exit(0);
      Say(absl::StrCat("clone ", flag), pid);
      // High bits, which the kernel does not look at.
      const long high =
          syscall(SYS_clone, (1ul << 40) | static_cast<unsigned>(flag) | SIGCHLD, 0, 0, 0, 0);
      if (high == 0) _exit(0);
      Say(absl::StrCat("clone with high bits ", flag), high);
    }
    clone_args args{};
    args.flags = static_cast<uint64_t>(flag);
    args.exit_signal = SIGCHLD;
    const long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0) _exit(0);
    Say(absl::StrCat("clone3 ", flag), pid);
  }
  for (const char* name : {"user", "mnt", "net", "pid"}) {
    for (const char* who : {"self", "1"}) {
      const UniqueFd fd(open(absl::StrCat("/proc/", who, "/ns/", name).c_str(), O_RDONLY));
      Say(absl::StrCat("setns ", name), setns(fd.get(), 0));
    }
  }
  std::thread([] { printf("threads work\n"); }).join();
  return 0;
});

TEST_P(KernelTest, NoNamespaceCanBeMadeOrEnteredAndThreadsWork) {
  const Outcome outcome = Try({"namespaces"});
  EXPECT_THAT(outcome.out, HasSubstr("threads work\n"));
  Held(7, "make or enter a namespace: unshare, clone, clone3, setns", !AnyDone(outcome));
}

// --- 11: calls that no agent needs ---

const Actor kCalls("calls", [](const std::vector<std::string>&) {
  const struct {
    const char* name;
    long number;
  } calls[] = {
      {"io_uring_setup", SYS_io_uring_setup},
      {"io_uring_enter", SYS_io_uring_enter},
      {"io_uring_register", SYS_io_uring_register},
      {"bpf", SYS_bpf},
      {"perf_event_open", SYS_perf_event_open},
      {"userfaultfd", SYS_userfaultfd},
      {"kexec_load", SYS_kexec_load},
      {"kexec_file_load", SYS_kexec_file_load},
      {"init_module", SYS_init_module},
      {"finit_module", SYS_finit_module},
      {"delete_module", SYS_delete_module},
      {"open_by_handle_at", SYS_open_by_handle_at},
      {"name_to_handle_at", SYS_name_to_handle_at},
      {"acct", SYS_acct},
      {"swapon", SYS_swapon},
      {"swapoff", SYS_swapoff},
      {"quotactl", SYS_quotactl},
      {"reboot", SYS_reboot},
      {"settimeofday", SYS_settimeofday},
      {"clock_settime", SYS_clock_settime},
      {"adjtimex", SYS_adjtimex},
      {"syslog", SYS_syslog},
      {"fanotify_init", SYS_fanotify_init},
      {"add_key", SYS_add_key},
      {"request_key", SYS_request_key},
      {"keyctl", SYS_keyctl},
      {"move_pages", SYS_move_pages},
      {"lookup_dcookie", SYS_lookup_dcookie},
      {"vhangup", SYS_vhangup},
#if defined(__x86_64__)
      {"iopl", SYS_iopl},
      {"ioperm", SYS_ioperm},
      {"modify_ldt", SYS_modify_ldt},
      {"uselib", SYS_uselib},
#endif
  };
  for (const auto& call : calls) {
    // The filter's answer comes before the kernel looks at arguments.
    const long result = syscall(call.number, -1, 0, 0, 0, 0, 0);
    const bool refused = result < 0 && (errno == EPERM || errno == ENOSYS);
    printf("%s: %s\n", call.name, refused ? "refused" : "done");
  }
  printf("userfaultfd, user mode: %s\n", syscall(SYS_userfaultfd, 1) < 0 ? "refused" : "done");
  // Keys are found again by the next run, whatever its root.
  printf("a key: %s\n",
         syscall(SYS_add_key, "user", "berth-escape", "v", 1, -3) < 0 ? "refused" : "done");
  return 0;
});

TEST_P(KernelTest, CallsThatNoAgentNeedsAreRefused) {
  const Outcome outcome = Try({"calls"});
  EXPECT_THAT(outcome.out, HasSubstr("a key: refused"));
  // -3: of this session.
  const long key = syscall(SYS_request_key, "user", "berth-escape", nullptr, -3);
  Held(11,
       "io_uring, bpf, perf_event_open, userfaultfd, kexec, modules, open_by_handle_at, acct, "
       "swap, quotas, iopl; keys across runs",
       !AnyDone(outcome) && key < 0);
}

// --- 12: kinds of sockets ---

const Actor kFamilies("families", [](const std::vector<std::string>&) {
  for (int family = 0; family < 64; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
      // The upper half of the register is not looked at by the kernel.
      for (const long high : {0L, 1L << 32}) {
        if (syscall(SYS_socket, family | high, type, 0) >= 0) {
          printf("family %d: done\n", family);
        }
      }
    }
    if (family != AF_UNIX && syscall(SYS_socketpair, family, SOCK_STREAM, 0, nullptr) == 0) {
      printf("pair of family %d: done\n", family);
    }
  }
  for (int protocol = 0; protocol < 32; ++protocol) {
    if (socket(AF_NETLINK, SOCK_RAW, protocol) >= 0) printf("netlink %d: done\n", protocol);
  }
  for (const int family : {AF_INET, AF_INET6}) {
    if (socket(family, SOCK_RAW, 255) >= 0) printf("raw: done\n");
  }
  printf("looked\n");
  return 0;
});

TEST_P(KernelTest, CVE_2026_31431_OnlyTheListedFamiliesOfSocketsAreThere) {
  const Outcome outcome = Try({"families"});
  EXPECT_THAT(outcome.out, HasSubstr("looked"));
  Held(12,
       "sockets of AF_ALG (CVE-2026-31431), VSOCK, PACKET, NETLINK, KEY, XDP and all other "
       "families; socketcall",
       !AnyDone(outcome));
}

// --- 24: core dumps, personality, prctl ---

const Actor kSettings("settings", [](const std::vector<std::string>&) {
  rlimit core;
  getrlimit(RLIMIT_CORE, &core);
  printf("core %lu %lu\n", core.rlim_cur, core.rlim_max);
  for (const rlim_t value : {rlim_t{0}, rlim_t{2}, RLIM_INFINITY}) {
    const rlimit other{value, value};
    setrlimit(RLIMIT_CORE, &other);
    prlimit(0, RLIMIT_CORE, &other, nullptr);
    syscall(SYS_prlimit64, getpid(), RLIMIT_CORE | (1L << 32), &other, nullptr);
  }
  getrlimit(RLIMIT_CORE, &core);
  printf("core %lu %lu\n", core.rlim_cur, core.rlim_max);
  Say("core_pattern", open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
  Say("modprobe", open("/proc/sys/kernel/modprobe", O_WRONLY | O_CLOEXEC));
  Say("sysrq", open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC));
  for (const unsigned long persona :
       {0x0040000ul /* ADDR_NO_RANDOMIZE */, 0x0400000ul /* READ_IMPLIES_EXEC */,
        0x0100000ul /* MMAP_PAGE_ZERO */, 0x0006ul /* SunOS */}) {
    Say("personality", syscall(SYS_personality, persona));
    Say("personality with high bits", syscall(SYS_personality, persona | (1ul << 32)));
  }
  Say("PR_SET_MM", prctl(PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0));
  Say("PR_SET_TSC", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
  return 0;
});

TEST_P(KernelTest, NoHandlerOfCoreDumpsRunsAndSettingsStay) {
  const Outcome outcome = Try({"settings"});
  EXPECT_THAT(outcome.out, HasSubstr("PR_SET_TSC: "));
  // At 1, and at 1 only, the kernel runs no handler of a core_pattern that begins with '|'.
  Held(24,
       "core dump to a piped core_pattern; core_pattern, sysrq and other settings; personality, "
       "PR_SET_MM, PR_SET_TSC",
       absl::StartsWith(outcome.out, "core 1 1\ncore 1 1\n") && !AnyDone(outcome));
}

INSTANTIATE_TEST_SUITE_P(Tiers, KernelTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
