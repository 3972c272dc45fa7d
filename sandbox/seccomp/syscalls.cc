#include "sandbox/seccomp/syscalls.h"

#include <sys/prctl.h>

#include <span>

namespace berth::seccomp {
namespace {

// clang-format off
constexpr const char* kAllowed[] = {
    // Files. Those with a mode by its bits; openat2 has them in memory, where a filter cannot look.
    "access", "chdir", "chown", "close", "close_range", "copy_file_range", "dup",
    "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir",
    "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr",
    "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate",
    "futimesat", "getcwd", "getdents", "getdents64", "getxattr", "getxattrat", "lchown",
    "lgetxattr", "link", "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr",
    "lseek", "lsetxattr", "lstat", "mkdir", "mkdirat", "newfstatat",
    "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead",
    "readlink", "readlinkat", "readv", "removexattr", "removexattrat", "rename", "renameat",
    "renameat2", "rmdir", "sendfile", "setxattr", "setxattrat", "splice", "stat", "statfs",
    "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "tee", "truncate",
    "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
    "cachestat", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
    // Memory.
    "brk", "madvise", "mincore", "mlock", "mlock2", "mlockall", "mmap", "mprotect", "mremap",
    "mseal", "msync", "munlock", "munlockall", "munmap", "memfd_create", "membarrier",
    "pkey_alloc", "pkey_free", "pkey_mprotect", "map_shadow_stack", "process_madvise",
    // Processes and threads. clone by its flags, setrlimit and prlimit64 by the
    // limit, priorities by whose they are.
    "alarm", "arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork",
    "futex", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_robust_list",
    "get_thread_area", "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid",
    "getpgrp", "getpid", "getppid", "getpriority", "getresgid", "getresuid", "getrlimit",
    "getrusage", "getsid", "gettid", "getuid", "ioprio_get", "kill", "pause",
    "pidfd_open", "pidfd_send_signal", "restart_syscall", "rseq",
    "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
    "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_yield", "set_robust_list",
    "set_thread_area", "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setitimer",
    "setpgid", "setregid", "setresgid", "setresuid", "setreuid",
    "setsid", "setuid", "getitimer", "tgkill", "times", "tkill", "vfork", "wait4", "waitid",
    "riscv_hwprobe", "uretprobe",
    // Signals.
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
    "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sigaltstack", "signalfd",
    "signalfd4",
    // Waiting and time.
    "clock_getres", "clock_gettime", "clock_nanosleep", "epoll_create", "epoll_create1",
    "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2",
    "gettimeofday", "nanosleep", "pipe", "pipe2", "poll", "ppoll", "pselect6", "select", "time",
    "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
    "timerfd_create", "timerfd_gettime", "timerfd_settime", "io_cancel", "io_destroy",
    "io_getevents", "io_pgetevents", "io_setup", "io_submit",
    // Sockets. socket and socketpair by their families, connect by the policy.
    "accept", "accept4", "bind", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
    "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
    // The system, and making oneself smaller.
    "getrandom", "sysinfo", "uname", "landlock_add_rule", "landlock_create_ruleset",
    "landlock_restrict_self", "seccomp",
};

constexpr const char* kFiles[] = {
    "creat", "link", "linkat", "mkdir", "mkdirat", "open", "openat", "rename", "renameat",
    "renameat2", "rmdir", "symlink", "symlinkat", "truncate", "unlink", "unlinkat",
};

constexpr const char* kIpc[] = {
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink",
    "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat",
    "shmctl", "shmdt", "shmget",
};

constexpr const char* kDebugging[] = {
    "kcmp", "pidfd_getfd", "process_vm_readv", "process_vm_writev", "ptrace",
};

constexpr const char* kNamespaces[] = {
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount",
    "open_tree", "open_tree_attr", "pivot_root", "setdomainname",
    "sethostname", "setns", "umount2",
};

constexpr const char* kReported[] = {
    "acct", "add_key", "bpf", "clock_settime", "create_module", "delete_module", "finit_module",
    "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "keyctl",
    "open_by_handle_at", "perf_event_open", "quotactl", "quotactl_fd", "reboot", "request_key",
    "settimeofday", "swapoff", "swapon", "userfaultfd", "vhangup",
};

constexpr const char* kRefused[] = {
    "adjtimex", "clock_adjtime", "fanotify_init", "fanotify_mark", "get_mempolicy",
    "lookup_dcookie", "mbind", "migrate_pages", "modify_ldt", "move_pages", "name_to_handle_at",
    "nfsservctl", "set_mempolicy", "set_mempolicy_home_node", "syslog", "sysfs", "uselib", "ustat",
    "vm86", "vm86old", "_sysctl",
};

constexpr int kPrctls[] = {
    PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_GET_UNALIGN,
    PR_GET_KEEPCAPS, PR_SET_KEEPCAPS, PR_GET_TIMING, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP,
    PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_GET_TSC, PR_GET_SECUREBITS,
    PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER,
    PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS, PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE, PR_CAP_AMBIENT, PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL,
    PR_MCE_KILL_GET,
    50, 51,      // PR_SVE_SET_VL, PR_SVE_GET_VL
    54, 55, 56,  // PR_PAC_RESET_KEYS, PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL
    65, 66,      // PR_SET_MDWE, PR_GET_MDWE
    0x41555856,  // PR_GET_AUXV
    0x53564d41,  // PR_SET_VMA: names of mappings
    0x59616d61,  // PR_SET_PTRACER
};
// clang-format on

}  // namespace

std::span<const char* const> AllowedCalls() { return kAllowed; }
std::span<const char* const> FileCalls() { return kFiles; }
std::span<const char* const> IpcCalls() { return kIpc; }
std::span<const char* const> DebuggingCalls() { return kDebugging; }
std::span<const char* const> NamespaceCalls() { return kNamespaces; }
std::span<const char* const> ReportedCalls() { return kReported; }
std::span<const char* const> RefusedCalls() { return kRefused; }
std::span<const int> AllowedPrctls() { return kPrctls; }

}  // namespace berth::seccomp
