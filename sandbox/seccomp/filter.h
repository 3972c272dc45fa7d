// The seccomp filter of a policy, as the kernel takes it: an array of sock_filter.
//
// An allow-list. Calls of a foreign ABI (i386 and x32 on x86-64) are refused whatever they are.
// Arguments that the kernel takes as 32 bits are compared as 32 bits (CVE-2019-10063). Refused
// calls that no program makes unaware are notified (SECCOMP_RET_USER_NOTIF), so that a supervisor
// can tell of them; it must refuse them as JudgeNotification (describe.h) says. Without a
// supervisor, or when it is gone, the kernel refuses them itself.
//
//   ABSL_ASSIGN_OR_RETURN(const std::string program, CompileFilter({.sockets = {AF_UNIX}}));
//
// Keep what comes out. Thread-safe.
#ifndef BERTH_SANDBOX_SECCOMP_FILTER_H_
#define BERTH_SANDBOX_SECCOMP_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/seccomp/program.h"

namespace berth::seccomp {

struct FilterSpec {
  std::vector<int> sockets = {};       // AF_* that socket() gives
  bool ipc = true;                     // System V and POSIX message queues
  bool own_pids = true;                // a pid namespace keeps other processes out of reach
  bool debugging = false;              // ptrace and the like, and personality without randomisation
  bool namespaces = false;             // unshare, setns, mount, …
  bool notify = false;                 // otherwise all refused calls fail by themselves
  bool notify_connect = false;         // connect() is shown to the supervisor, who lets it go on
  bool notify_files = false;           // the same of all calls that name a file: see ToldFileCalls
  std::vector<std::string> deny = {};  // names, refused whatever the tables say
};

// InvalidArgument if a name in `deny` is no system call.
absl::StatusOr<std::string> CompileFilter(const FilterSpec& spec);

// The numbers of the calls that the filter notifies for notify_files though it does not refuse
// them: the supervisor lets each of them go on, but for those that ask for a set-id bit
// (describe.h). Empty without notifications.
std::vector<int> ToldFileCalls(const FilterSpec& spec);

// What it is assembled from, to be compared with what others make of it.
absl::StatusOr<std::vector<Rule>> FilterRules(const FilterSpec& spec);
Actions FilterActions(const FilterSpec& spec);

}  // namespace berth::seccomp

#endif  // BERTH_SANDBOX_SECCOMP_FILTER_H_
