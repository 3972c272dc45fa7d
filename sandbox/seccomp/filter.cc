#include "sandbox/seccomp/filter.h"

#include <errno.h>
#include <fcntl.h>
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
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/seccomp/program.h"
#include "sandbox/seccomp/syscalls.h"

namespace berth::seccomp {
namespace {

constexpr uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
constexpr uint64_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr uint64_t kNewTime = 0x80;  // CLONE_NEWTIME; in clone() these bits are the exit signal

constexpr uint32_t kSetId = S_ISUID | S_ISGID;

using Conditions = std::vector<Condition>;
using Kind = Condition::Kind;

// A 32-bit argument, whatever is in the upper half of the register.
Condition Is(unsigned argument, uint32_t value, uint32_t mask = 0xffffffff) {
  return {.kind = Kind::kMasked, .argument = argument, .value = value, .mask = mask};
}

// Whether a call that is not refused is notified all the same, so that it can be told.
bool IsTold(const FilterSpec& spec, absl::string_view name) {
  return spec.notify && spec.notify_files && absl::c_linear_search(FileCalls(), name);
}

class Compiler {
 public:
  explicit Compiler(const FilterSpec& spec)
      : spec_(spec), report_(spec.notify ? SCMP_ACT_NOTIFY : kRefuse) {}
  absl::StatusOr<std::vector<Rule>> Run();

 private:
  // They add up. Those of one call exclude each other, but where they say the same.
  void Add(uint32_t action, const char* name, const Conditions& conditions = {});
  void AddAll(uint32_t action, std::span<const char* const> names) {
    for (const char* name : names) Add(action, name);
  }
  // Allowed, or shown to the supervisor, who lets it go on.
  void Allow(const char* name, const Conditions& conditions = {}) {
    if (IsDenied(name)) return;
    Add(IsTold(spec_, name) ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, name, conditions);
  }
  bool IsDenied(const char* name) const { return absl::c_linear_search(spec_.deny, name); }
  // For every value of a 32-bit argument but those in `values`, where the conditions `before` hold.
  void Otherwise(uint32_t action, const char* name, unsigned argument,
                 const std::vector<uint32_t>& values, const Conditions& before = {});
  void Deny();
  void Clone();
  void Sockets();
  void Ioctl();
  void Process();
  void CoreLimit();
  // Limits and priorities of other processes.
  void Others();
  // By the set-id bits of a mode, where the other conditions hold.
  void Modes(const char* name, unsigned argument, Conditions before = {});
  void Files();

  const FilterSpec& spec_;
  const uint32_t report_;
  std::vector<Rule> rules_;
  absl::Status status_;
};

void Compiler::Add(uint32_t action, const char* name, const Conditions& conditions) {
  if (IsDenied(name) && !(action == report_ && conditions.empty())) return;
  const int number = seccomp_syscall_resolve_name(name);
  if (number < 0) return;  // of another architecture, or newer than libseccomp: ENOSYS
  rules_.push_back({.number = number, .action = action, .conditions = conditions});
}

void Compiler::Otherwise(uint32_t action, const char* name, unsigned argument,
                         const std::vector<uint32_t>& values, const Conditions& before) {
  Conditions all = before;
  all.push_back({.kind = Kind::kNotIn, .argument = argument, .values = values});
  Add(action, name, all);
}

void Compiler::Deny() {
  for (const std::string& name : spec_.deny) {
    if (seccomp_syscall_resolve_name(name.c_str()) == __NR_SCMP_ERROR && status_.ok()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("system call '", name, "': there is none of that name"));
    }
    Add(report_, name.c_str());
  }
}

void Compiler::Clone() {
  if (spec_.namespaces) {
    for (const char* name : {"clone", "clone3", "unshare"}) Add(SCMP_ACT_ALLOW, name);
    return;
  }
  Add(SCMP_ACT_ALLOW, "clone", {Is(0, 0, kNamespaceFlags)});
  Add(SCMP_ACT_ALLOW, "unshare", {Is(0, 0, kNamespaceFlags | kNewTime)});
  for (uint64_t flag = 1; flag <= kNamespaceFlags; flag <<= 1) {
    const uint32_t bit = static_cast<uint32_t>(flag);
    if ((flag & kNamespaceFlags) != 0) Add(report_, "clone", {Is(0, bit, bit)});
    if ((flag & (kNamespaceFlags | kNewTime)) != 0) Add(report_, "unshare", {Is(0, bit, bit)});
  }
}

void Compiler::Sockets() {
  std::vector<uint32_t> families;
  for (const int family : spec_.sockets) {
    families.push_back(static_cast<uint32_t>(family));
    Conditions conditions = {Is(0, static_cast<uint32_t>(family))};
    // NETLINK_ROUTE: interfaces and addresses. The others are ways into the kernel.
    if (family == AF_NETLINK) conditions.push_back(Is(2, 0));
    Add(SCMP_ACT_ALLOW, "socket", conditions);
  }
  Otherwise(report_, "socket", 0, families);
  if (absl::c_linear_search(spec_.sockets, AF_UNIX)) {
    Add(SCMP_ACT_ALLOW, "socketpair", {Is(0, AF_UNIX)});
  } else {
    // A pair leads nowhere else, but for datagrams, which take an address with each message.
    for (const uint32_t type : {SOCK_STREAM, SOCK_SEQPACKET}) {
      Add(SCMP_ACT_ALLOW, "socketpair", {Is(0, AF_UNIX), Is(1, type, 0xf)});
    }
  }
  Add(spec_.notify && spec_.notify_connect ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, "connect");
}

void Compiler::Ioctl() {
  // These type on, or take over, the terminal of whoever looks on (CVE-2017-5226).
  const std::vector<uint32_t> bad = {TIOCSTI, TIOCLINUX, TIOCSETD};
  for (const uint32_t request : bad) Add(report_, "ioctl", {Is(1, request)});
  Otherwise(SCMP_ACT_ALLOW, "ioctl", 1, bad);
}

void Compiler::Process() {
  for (const int option : AllowedPrctls()) {
    Add(SCMP_ACT_ALLOW, "prctl", {Is(0, static_cast<uint32_t>(option))});
  }
  for (const uint32_t option : {PR_SET_MM, PR_SET_TSC}) Add(report_, "prctl", {Is(0, option)});
  // Linux, 32-bit Linux, the old version number, and the question which one it is.
  std::vector<uint32_t> personas = {PER_LINUX, PER_LINUX32, UNAME26,
                                    PER_LINUX32 | uint32_t{UNAME26}, 0xffffffff};
  if (spec_.debugging) personas.push_back(ADDR_NO_RANDOMIZE);
  for (const uint32_t persona : personas) Add(SCMP_ACT_ALLOW, "personality", {Is(0, persona)});
  Otherwise(report_, "personality", 0, personas);
}

void Compiler::CoreLimit() {
  // At 0 the kernel runs the handler of a piped core_pattern, on the host and as its root; at the 1
  // that a sandbox begins with it does not. So the limit stays, and who sets it is told that it is
  // set: gpg and its like would not go on otherwise.
  constexpr uint32_t kDone = SCMP_ACT_ERRNO(0);
  Add(kDone, "setrlimit", {Is(0, RLIMIT_CORE)});
  Otherwise(SCMP_ACT_ALLOW, "setrlimit", 0, {RLIMIT_CORE});
  Conditions whose;
  if (!spec_.own_pids) {
    whose = {Is(0, 0)};
    Otherwise(report_, "prlimit64", 0, {0});
  }
  for (const auto& [action, sets] :
       {std::pair(kDone, Kind::kNotNull), std::pair(SCMP_ACT_ALLOW, Kind::kNull)}) {
    Conditions all = whose;
    all.push_back(Is(1, RLIMIT_CORE));
    all.push_back({.kind = sets, .argument = 2});
    Add(action, "prlimit64", all);
  }
  Otherwise(SCMP_ACT_ALLOW, "prlimit64", 1, {RLIMIT_CORE}, whose);
}

void Compiler::Others() {
  constexpr const char* kByPid[] = {"sched_setaffinity", "sched_setattr", "sched_setparam",
                                    "sched_setscheduler"};
  // Priorities of one process are 0 and 1 of these.
  constexpr std::pair<const char*, uint32_t> kByKind[] = {{"setpriority", 0}, {"ioprio_set", 1}};
  if (spec_.own_pids) {
    AddAll(SCMP_ACT_ALLOW, kByPid);
    for (const auto& [name, process] : kByKind) Add(SCMP_ACT_ALLOW, name);
    return;
  }
  // Its own, which is 0, and nobody else's: the kernel lets all of one user change each other's.
  for (const char* name : kByPid) {
    Add(SCMP_ACT_ALLOW, name, {Is(0, 0)});
    Otherwise(report_, name, 0, {0});
  }
  for (const auto& [name, process] : kByKind) {
    Add(SCMP_ACT_ALLOW, name, {Is(0, process), Is(1, 0)});
    Otherwise(report_, name, 1, {0}, {Is(0, process)});
    Otherwise(report_, name, 0, {process});
  }
}

void Compiler::Modes(const char* name, unsigned argument, Conditions before) {
  for (const uint32_t bits : {0u, uint32_t{S_ISUID}, uint32_t{S_ISGID}, kSetId}) {
    Conditions all = before;
    all.push_back(Is(argument, bits, kSetId));
    if (bits == 0) Allow(name, all);
    if (bits != 0) Add(report_, name, all);
  }
}

void Compiler::Files() {
  for (const auto& [name, argument] : {std::pair("mknod", 1u), std::pair("mknodat", 2u)}) {
    for (const uint32_t type : {0u, uint32_t{S_IFREG}, uint32_t{S_IFIFO}, uint32_t{S_IFSOCK}}) {
      for (const uint32_t bits : {0u, uint32_t{S_ISUID}, uint32_t{S_ISGID}, kSetId}) {
        Add(bits == 0 ? SCMP_ACT_ALLOW : report_, name,
            {Is(argument, type | bits, S_IFMT | kSetId)});
      }
    }
    for (const uint32_t type : {S_IFCHR, S_IFBLK}) Add(report_, name, {Is(argument, type, S_IFMT)});
  }
  // A set-user-id file that is left in a workspace gives its owner's rights to whoever runs it on
  // the host, where no mount says nosuid: so none is made.
  for (const auto& [name, argument] :
       {std::pair("chmod", 1u), std::pair("fchmod", 1u), std::pair("fchmodat", 2u),
        std::pair("fchmodat2", 2u), std::pair("creat", 1u)}) {
    Modes(name, argument);
  }
  // open has a mode only if it makes something; otherwise that register holds anything.
  constexpr uint32_t kTemporary = O_TMPFILE & ~O_DIRECTORY;
  constexpr uint32_t kMakes = uint32_t{O_CREAT} | kTemporary;
  for (const auto& [name, flags] : {std::pair("open", 1u), std::pair("openat", 2u)}) {
    Allow(name, {Is(flags, 0, kMakes)});
    for (const uint32_t makes : {uint32_t{O_CREAT}, kTemporary, kMakes}) {
      Modes(name, flags + 1, {Is(flags, makes, kMakes)});
    }
  }
  // A berth in this one opens what it mounts by it.
  if (spec_.namespaces) Add(SCMP_ACT_ALLOW, "openat2");
}

absl::StatusOr<std::vector<Rule>> Compiler::Run() {
  Deny();
  for (const char* name : AllowedCalls()) Allow(name);
  AddAll(spec_.ipc ? SCMP_ACT_ALLOW : kRefuse, IpcCalls());
  AddAll(spec_.debugging ? SCMP_ACT_ALLOW : report_, DebuggingCalls());
  AddAll(spec_.namespaces ? SCMP_ACT_ALLOW : report_, NamespaceCalls());
  Clone();
  AddAll(report_, ReportedCalls());
  AddAll(kRefuse, RefusedCalls());
  Sockets();
  Ioctl();
  Process();
  CoreLimit();
  Others();
  Files();
  ABSL_RETURN_IF_ERROR(status_);
  return std::move(rules_);
}

}  // namespace

absl::StatusOr<std::vector<Rule>> FilterRules(const FilterSpec& spec) {
  return Compiler(spec).Run();
}

std::vector<int> ToldFileCalls(const FilterSpec& spec) {
  std::vector<int> numbers;
  for (const char* name : FileCalls()) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number < 0 || !IsTold(spec, name) || absl::c_linear_search(spec.deny, name)) continue;
    numbers.push_back(number);
  }
  return numbers;
}

Actions FilterActions(const FilterSpec& spec) {
  // A supervisor can tell of a foreign call; without one the end of the process does.
  return {.otherwise = SCMP_ACT_ERRNO(ENOSYS),
          .foreign = spec.notify ? SCMP_ACT_NOTIFY : SCMP_ACT_KILL_PROCESS};
}

absl::StatusOr<std::string> CompileFilter(const FilterSpec& spec) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<Rule> rules, FilterRules(spec));
  std::string program = Assemble(rules, FilterActions(spec));
  // A filter that is empty would be none.
  if (program.empty()) return absl::InternalError("make a filter: a rule of it is too long");
  return program;
}

}  // namespace berth::seccomp
