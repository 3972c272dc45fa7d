#include "sandbox/seccomp/describe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <string>

namespace berth::seccomp {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kNative = AUDIT_ARCH_X86_64;
constexpr int kX32Bit = 0x40000000;
#elif defined(__aarch64__)
constexpr uint32_t kNative = AUDIT_ARCH_AARCH64;
constexpr int kX32Bit = 0;
#endif

struct Name {
  uint64_t value;
  const char* name;
};

#define BERTH_CALL(name) {SYS_##name, #name}
// Those that the filter notifies; newer ones by number, for older headers.
constexpr Name kCalls[] = {
    BERTH_CALL(acct),
    BERTH_CALL(add_key),
    BERTH_CALL(bpf),
    BERTH_CALL(chroot),
    BERTH_CALL(clock_settime),
    BERTH_CALL(clone),
    BERTH_CALL(connect),
    BERTH_CALL(delete_module),
    BERTH_CALL(fchmod),
    BERTH_CALL(fchmodat),
    BERTH_CALL(finit_module),
    BERTH_CALL(fsconfig),
    BERTH_CALL(fsmount),
    BERTH_CALL(fsopen),
    BERTH_CALL(fspick),
    BERTH_CALL(init_module),
    BERTH_CALL(ioctl),
    BERTH_CALL(ioprio_set),
    BERTH_CALL(kcmp),
    BERTH_CALL(kexec_file_load),
    BERTH_CALL(kexec_load),
    BERTH_CALL(keyctl),
    BERTH_CALL(mknodat),
    BERTH_CALL(mount),
    BERTH_CALL(mount_setattr),
    BERTH_CALL(move_mount),
    BERTH_CALL(open_by_handle_at),
    BERTH_CALL(open_tree),
    BERTH_CALL(openat),
    BERTH_CALL(perf_event_open),
    BERTH_CALL(personality),
    BERTH_CALL(pidfd_getfd),
    BERTH_CALL(pivot_root),
    BERTH_CALL(prctl),
    BERTH_CALL(prlimit64),
    BERTH_CALL(process_vm_readv),
    BERTH_CALL(process_vm_writev),
    BERTH_CALL(ptrace),
    BERTH_CALL(quotactl),
    BERTH_CALL(reboot),
    BERTH_CALL(request_key),
    BERTH_CALL(sched_setaffinity),
    BERTH_CALL(sched_setattr),
    BERTH_CALL(sched_setparam),
    BERTH_CALL(sched_setscheduler),
    BERTH_CALL(setdomainname),
    BERTH_CALL(sethostname),
    BERTH_CALL(setns),
    BERTH_CALL(setpriority),
    BERTH_CALL(settimeofday),
    BERTH_CALL(socket),
    BERTH_CALL(swapoff),
    BERTH_CALL(swapon),
    BERTH_CALL(umount2),
    BERTH_CALL(unshare),
    BERTH_CALL(userfaultfd),
    BERTH_CALL(vhangup),
    {443, "quotactl_fd"},
    {452, "fchmodat2"},
    {467, "open_tree_attr"},
#if defined(__x86_64__)
    BERTH_CALL(chmod),
    BERTH_CALL(creat),
    BERTH_CALL(create_module),
    BERTH_CALL(ioperm),
    BERTH_CALL(iopl),
    BERTH_CALL(mknod),
    BERTH_CALL(open),
#endif
};
#undef BERTH_CALL

constexpr Name kFamilies[] = {
    {AF_UNSPEC, "AF_UNSPEC"},
    {AF_UNIX, "AF_UNIX"},
    {AF_INET, "AF_INET"},
    {AF_INET6, "AF_INET6"},
    {AF_NETLINK, "AF_NETLINK"},
    {AF_PACKET, "AF_PACKET"},
    {AF_KEY, "AF_KEY"},
    {AF_ALG, "AF_ALG"},
    {AF_VSOCK, "AF_VSOCK"},
    {AF_XDP, "AF_XDP"},
    {AF_BLUETOOTH, "AF_BLUETOOTH"},
    {AF_CAN, "AF_CAN"},
    {AF_TIPC, "AF_TIPC"},
    {AF_RDS, "AF_RDS"},
    {AF_NFC, "AF_NFC"},
    {AF_AX25, "AF_AX25"},
    {AF_APPLETALK, "AF_APPLETALK"},
    {AF_RXRPC, "AF_RXRPC"},
    {AF_KCM, "AF_KCM"},
    {AF_QIPCRTR, "AF_QIPCRTR"},
    {AF_SMC, "AF_SMC"},
};

constexpr Name kNamespaces[] = {
    {CLONE_NEWNS, "CLONE_NEWNS"},     {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
    {CLONE_NEWUTS, "CLONE_NEWUTS"},   {CLONE_NEWIPC, "CLONE_NEWIPC"},
    {CLONE_NEWUSER, "CLONE_NEWUSER"}, {CLONE_NEWPID, "CLONE_NEWPID"},
    {CLONE_NEWNET, "CLONE_NEWNET"},
};

constexpr Name kRequests[] = {
    {TIOCSTI, "TIOCSTI"}, {TIOCLINUX, "TIOCLINUX"}, {TIOCSETD, "TIOCSETD"}};
constexpr Name kOptions[] = {{PR_SET_MM, "PR_SET_MM"}, {PR_SET_TSC, "PR_SET_TSC"}};

template <size_t N>
std::string NameOf(const Name (&names)[N], uint64_t value, const char* prefix) {
  for (const Name& name : names) {
    if (name.value == value) return name.name;
  }
  return prefix + std::to_string(value);
}

std::string Flags(uint64_t flags, bool with_time) {
  std::string text;
  for (const Name& name : kNamespaces) {
    if ((flags & name.value) == 0) continue;
    if (!text.empty()) text += '|';
    text += name.name;
  }
  if (with_time && (flags & 0x80) != 0) text += text.empty() ? "CLONE_NEWTIME" : "|CLONE_NEWTIME";
  return text;
}

// What of its first arguments says most; "" if the name alone does.
std::string Detail(const seccomp_data& data) {
  const uint32_t first = static_cast<uint32_t>(data.args[0]);
  switch (data.nr) {
    case SYS_socket:
      return NameOf(kFamilies, first, "family ");
    case SYS_clone:
      return Flags(first, false);
    case SYS_unshare:
      return Flags(first, true);
    case SYS_setns:
      return Flags(static_cast<uint32_t>(data.args[1]), true);
    case SYS_ioctl:
      return NameOf(kRequests, static_cast<uint32_t>(data.args[1]), "request ");
    case SYS_prctl:
      return NameOf(kOptions, first, "option ");
    case SYS_personality: {
      char text[16];
      snprintf(text, sizeof(text), "0x%x", first);
      return text;
    }
    case SYS_ioprio_set:
    case SYS_prlimit64:
    case SYS_sched_setaffinity:
    case SYS_sched_setattr:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
    case SYS_setpriority:
      return "of another process";
#if defined(__x86_64__)
    case SYS_chmod:
    case SYS_creat:
    case SYS_open:
#endif
    case SYS_fchmod:
    case SYS_fchmodat:
    case SYS_openat:
    case 452:
      return "with a set-user-id or set-group-id bit";
    default:
      return "";
  }
}

bool IsLoopback(const in6_addr& address) {
  // Ours are the addresses that lead to the own loopback, in either form.
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address);
}

// Whether an address is in the sandbox itself: then the kernel may go on with it.
bool IsInside(const void* address, size_t size) {
  sa_family_t family;
  if (size < sizeof(family)) return true;  // not an address: the kernel says so
  memcpy(&family, address, sizeof(family));
  if (family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in;
    memcpy(&in, address, sizeof(in));
    const uint32_t host = ntohl(in.sin_addr.s_addr);
    return host >> 24 == 127 || host == INADDR_ANY;
  }
  if (family == AF_INET6 && size >= offsetof(sockaddr_in6, sin6_scope_id)) {
    in6_addr in;
    memcpy(&in, static_cast<const char*>(address) + offsetof(sockaddr_in6, sin6_addr), sizeof(in));
    return IsLoopback(in);
  }
  return true;
}

}  // namespace

std::string DescribeSyscall(const seccomp_data& data) {
  if (data.arch != kNative) {
    const char* abi = data.arch == AUDIT_ARCH_I386  ? "i386"
                      : data.arch == AUDIT_ARCH_ARM ? "arm"
                                                    : "foreign";
    return std::string(abi) + " system call " + std::to_string(data.nr);
  }
  if (kX32Bit != 0 && (data.nr & kX32Bit) != 0) {
    return "x32 system call " + std::to_string(data.nr & ~kX32Bit);
  }
  std::string text =
      NameOf(kCalls, static_cast<uint64_t>(static_cast<uint32_t>(data.nr)), "system call ");
  const std::string detail = Detail(data);
  return detail.empty() ? text : text + " " + detail;
}

std::string DescribeAddress(const void* address, size_t size) {
  sa_family_t family;
  if (size < sizeof(family)) return "no address";
  memcpy(&family, address, sizeof(family));
  char text[INET6_ADDRSTRLEN];
  if (family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in;
    memcpy(&in, address, sizeof(in));
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (family == AF_INET6 && size >= offsetof(sockaddr_in6, sin6_scope_id)) {
    sockaddr_in6 in{};
    memcpy(&in, address, offsetof(sockaddr_in6, sin6_scope_id));
    inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in.sin6_port));
  }
  return NameOf(kFamilies, family, "family ") + " address";
}

bool IsNative(const seccomp_data& data) {
  return data.arch == kNative && (kX32Bit == 0 || (data.nr & kX32Bit) == 0);
}

bool AsksForSetId(const seccomp_data& data) {
  // open has a mode only if it makes something; otherwise that register holds anything.
  constexpr uint64_t kMakes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  const auto has = [&data](int argument, uint64_t bits) {
    return (data.args[argument] & bits) != 0;
  };
  constexpr uint64_t kSetId = S_ISUID | S_ISGID;
  switch (data.nr) {
#if defined(__x86_64__)
    case SYS_creat:
      return has(1, kSetId);
    case SYS_open:
      return has(1, kMakes) && has(2, kSetId);
#endif
    case SYS_openat:
      return has(2, kMakes) && has(3, kSetId);
    default:
      return false;
  }
}

Judgement JudgeNotification(const seccomp_data& data, const void* address, size_t size) {
  Judgement judgement;
  const bool native = data.arch == kNative;
  if (native && data.nr == SYS_connect) {
    judgement.goes_on = IsInside(address, size);
    judgement.error = ENETUNREACH;
    judgement.network = true;
    judgement.what = "connect " + DescribeAddress(address, size);
    return judgement;
  }
  judgement.what = DescribeSyscall(data);
  judgement.error = EPERM;
  if (native && data.nr == SYS_socket) {
    const uint32_t family = static_cast<uint32_t>(data.args[0]);
    judgement.error = EAFNOSUPPORT;
    judgement.network = family == AF_INET || family == AF_INET6;
  }
  if (!native) judgement.error = ENOSYS;
  return judgement;
}

}  // namespace berth::seccomp
