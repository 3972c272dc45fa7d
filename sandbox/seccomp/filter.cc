#include "sandbox/seccomp/filter.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/seccomp/syscalls.h"

namespace berth::seccomp {
namespace {

constexpr uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
constexpr uint64_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr uint64_t kNewTime = 0x80;  // CLONE_NEWTIME; in clone() these bits are the exit signal

using Conditions = std::vector<scmp_arg_cmp>;

// A 32-bit argument, whatever is in the upper half of the register.
scmp_arg_cmp Is(unsigned argument, uint32_t value, uint32_t mask = 0xffffffff) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

class Compiler {
 public:
  explicit Compiler(const FilterSpec& spec)
      : spec_(spec), report_(spec.notify ? SCMP_ACT_NOTIFY : kRefuse) {}
  absl::StatusOr<std::string> Run();

 private:
  // Rules add up; the first error is kept.
  void Rule(uint32_t action, const char* name, const Conditions& conditions = {});
  void Rules(uint32_t action, std::span<const char* const> names) {
    for (const char* name : names) Rule(action, name);
  }
  // For every value of a 32-bit argument but those in `values`. libseccomp has no "otherwise" and
  // no masked "not equal": so the tree of bits is walked, and each branch that leads to none of
  // the values is one masked comparison.
  void Otherwise(uint32_t action, const char* name, unsigned argument,
                 const std::vector<uint32_t>& values);
  void Deny();
  void Clone();
  void Sockets();
  void Ioctl();
  void Process();
  void CoreLimit();
  void Files();
  absl::StatusOr<std::string> Export() const;

  const FilterSpec& spec_;
  const uint32_t report_;
  std::unique_ptr<void, void (*)(void*)> context_{nullptr, &seccomp_release};
  absl::Status status_;
};

void Compiler::Rule(uint32_t action, const char* name, const Conditions& conditions) {
  if (absl::c_linear_search(spec_.deny, name) && !(action == report_ && conditions.empty())) return;
  const int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return;  // of another architecture, or newer than libseccomp: ENOSYS
  const int error = seccomp_rule_add_array(context_.get(), action, number,
                                           static_cast<unsigned>(conditions.size()),
                                           conditions.empty() ? nullptr : conditions.data());
  // A rule that is there already says the same.
  if (error != 0 && error != -EEXIST && status_.ok()) {
    status_ = ErrnoStatus(-error, absl::StrCat("add a filter rule for '", name, "'"));
  }
}

void Compiler::Otherwise(uint32_t action, const char* name, unsigned argument,
                         const std::vector<uint32_t>& values) {
  struct Branch {
    uint32_t prefix, mask;
  };
  std::vector<Branch> open = {{0, 0}};
  for (int bit = 31; bit >= 0; --bit) {
    std::vector<Branch> next;
    for (const Branch& branch : open) {
      const uint32_t mask = branch.mask | (uint32_t{1} << bit);
      for (const uint32_t side : {uint32_t{0}, uint32_t{1} << bit}) {
        const uint32_t prefix = branch.prefix | side;
        const bool leads =
            absl::c_any_of(values, [&](uint32_t value) { return (value & mask) == prefix; });
        if (leads) next.push_back({prefix, mask});
        if (!leads) Rule(action, name, {Is(argument, prefix, mask)});
      }
    }
    open = std::move(next);
  }
}

void Compiler::Deny() {
  for (const std::string& name : spec_.deny) {
    if (seccomp_syscall_resolve_name(name.c_str()) == __NR_SCMP_ERROR && status_.ok()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("system call '", name, "': there is none of that name"));
    }
    Rule(report_, name.c_str());
  }
}

void Compiler::Clone() {
  if (spec_.namespaces) {
    for (const char* name : {"clone", "clone3", "unshare"}) Rule(SCMP_ACT_ALLOW, name);
    return;
  }
  Rule(SCMP_ACT_ALLOW, "clone", {Is(0, 0, kNamespaceFlags)});
  Rule(SCMP_ACT_ALLOW, "unshare", {Is(0, 0, kNamespaceFlags | kNewTime)});
  for (uint64_t flag = 1; flag <= kNamespaceFlags; flag <<= 1) {
    const uint32_t bit = static_cast<uint32_t>(flag);
    if ((flag & kNamespaceFlags) != 0) Rule(report_, "clone", {Is(0, bit, bit)});
    if ((flag & (kNamespaceFlags | kNewTime)) != 0) Rule(report_, "unshare", {Is(0, bit, bit)});
  }
}

void Compiler::Sockets() {
  std::vector<uint32_t> families;
  for (const int family : spec_.sockets) {
    families.push_back(static_cast<uint32_t>(family));
    Conditions conditions = {Is(0, static_cast<uint32_t>(family))};
    // NETLINK_ROUTE: interfaces and addresses. The others are ways into the kernel.
    if (family == AF_NETLINK) conditions.push_back(Is(2, 0));
    Rule(SCMP_ACT_ALLOW, "socket", conditions);
  }
  Otherwise(report_, "socket", 0, families);
  if (absl::c_linear_search(spec_.sockets, AF_UNIX)) {
    Rule(SCMP_ACT_ALLOW, "socketpair", {Is(0, AF_UNIX)});
  } else {
    // A pair leads nowhere else, but for datagrams, which take an address with each message.
    for (const uint32_t type : {SOCK_STREAM, SOCK_SEQPACKET}) {
      Rule(SCMP_ACT_ALLOW, "socketpair", {Is(0, AF_UNIX), Is(1, type, 0xf)});
    }
  }
  Rule(spec_.notify && spec_.notify_connect ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, "connect");
}

void Compiler::Ioctl() {
  // These type on, or take over, the terminal of whoever looks on (CVE-2017-5226).
  const std::vector<uint32_t> bad = {TIOCSTI, TIOCLINUX, TIOCSETD};
  for (const uint32_t request : bad) Rule(report_, "ioctl", {Is(1, request)});
  Otherwise(SCMP_ACT_ALLOW, "ioctl", 1, bad);
}

void Compiler::Process() {
  for (const int option : AllowedPrctls()) {
    Rule(SCMP_ACT_ALLOW, "prctl", {Is(0, static_cast<uint32_t>(option))});
  }
  for (const uint32_t option : {PR_SET_MM, PR_SET_TSC}) Rule(report_, "prctl", {Is(0, option)});
  // Linux, 32-bit Linux, the old version number, and the question which one it is.
  std::vector<uint32_t> personas = {PER_LINUX, PER_LINUX32, UNAME26,
                                    PER_LINUX32 | uint32_t{UNAME26}, 0xffffffff};
  if (spec_.debugging) personas.push_back(ADDR_NO_RANDOMIZE);
  for (const uint32_t persona : personas) Rule(SCMP_ACT_ALLOW, "personality", {Is(0, persona)});
  Otherwise(report_, "personality", 0, personas);
}

void Compiler::CoreLimit() {
  // At 0 the kernel runs the handler of a piped core_pattern, on the host and as its root; at the 1
  // that a sandbox begins with it does not. So the limit stays, and who sets it is told that it is
  // set: gpg and its like would not go on otherwise.
  constexpr uint32_t kDone = SCMP_ACT_ERRNO(0);
  Rule(kDone, "setrlimit", {Is(0, RLIMIT_CORE)});
  Otherwise(SCMP_ACT_ALLOW, "setrlimit", 0, {RLIMIT_CORE});
  Rule(kDone, "prlimit64", {Is(1, RLIMIT_CORE), {2, SCMP_CMP_NE, 0, 0}});
  Rule(SCMP_ACT_ALLOW, "prlimit64", {Is(1, RLIMIT_CORE), {2, SCMP_CMP_EQ, 0, 0}});
  Otherwise(SCMP_ACT_ALLOW, "prlimit64", 1, {RLIMIT_CORE});
}

void Compiler::Files() {
  for (const auto& [name, argument] : {std::pair("mknod", 1u), std::pair("mknodat", 2u)}) {
    for (const uint32_t type : {0u, uint32_t{S_IFREG}, uint32_t{S_IFIFO}, uint32_t{S_IFSOCK}}) {
      Rule(SCMP_ACT_ALLOW, name, {Is(argument, type, S_IFMT)});
    }
    for (const uint32_t type : {S_IFCHR, S_IFBLK})
      Rule(report_, name, {Is(argument, type, S_IFMT)});
  }
}

absl::StatusOr<std::string> Compiler::Export() const {
  size_t size = 0;
  if (const int error = seccomp_export_bpf_mem(context_.get(), nullptr, &size); error != 0) {
    return ErrnoStatus(-error, "measure the filter");
  }
  std::string program(size, '\0');
  if (const int error = seccomp_export_bpf_mem(context_.get(), program.data(), &size); error != 0) {
    return ErrnoStatus(-error, "export the filter");
  }
  program.resize(size);
  return program;
}

absl::StatusOr<std::string> Compiler::Run() {
  context_.reset(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
  if (context_ == nullptr) return absl::ResourceExhaustedError("make a filter: out of memory");
  const std::pair<scmp_filter_attr, uint32_t> attributes[] = {
      // A supervisor can tell of a foreign call; without one the end of the process does.
      {SCMP_FLTATR_ACT_BADARCH, spec_.notify ? SCMP_ACT_NOTIFY : SCMP_ACT_KILL_PROCESS},
      {SCMP_FLTATR_CTL_OPTIMIZE, 2}};  // a binary tree instead of a list
  for (const auto& [attribute, value] : attributes) {
    if (const int error = seccomp_attr_set(context_.get(), attribute, value); error != 0) {
      return ErrnoStatus(-error, absl::StrCat("set filter attribute ", attribute));
    }
  }
  Deny();
  Rules(SCMP_ACT_ALLOW, AllowedCalls());
  Rules(spec_.ipc ? SCMP_ACT_ALLOW : kRefuse, IpcCalls());
  Rules(spec_.debugging ? SCMP_ACT_ALLOW : report_, DebuggingCalls());
  Rules(spec_.namespaces ? SCMP_ACT_ALLOW : report_, NamespaceCalls());
  Clone();
  Rules(report_, ReportedCalls());
  Rules(kRefuse, RefusedCalls());
  Sockets();
  Ioctl();
  Process();
  CoreLimit();
  Files();
  ABSL_RETURN_IF_ERROR(status_);
  return Export();
}

}  // namespace

absl::StatusOr<std::string> CompileFilter(const FilterSpec& spec) { return Compiler(spec).Run(); }

}  // namespace berth::seccomp
