// The steps between clone and exec: run in a child that may share its parent's memory, so no heap,
// no locks, no errno kept. Everything it needs is made ready before.
#ifndef BERTH_SANDBOX_LAUNCHER_CHILD_H_
#define BERTH_SANDBOX_LAUNCHER_CHILD_H_

#include <sys/types.h>

#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {

struct ChildPlan {
  int stdio[3] = {0, 0, 0};   // 0 is the helper's own /dev/null; others are above 2
  const char* cwd = nullptr;  // null or "": stay
  int cwd_fd = -1;            // the same by descriptor
  const char* const* argv = nullptr;
  const char* const* env = nullptr;
  int exe_fd = -1;           // executed instead of argv[0], if not -1
  int trampoline_fd = -1;    // executes argv, if not -1: see trampoline.cc
  int keep_fd = -1;          // becomes descriptor 3, if not -1
  bool own_session = false;  // setsid; otherwise a process group of its own
  bool terminal = false;     // stdin becomes the controlling terminal
  bool dies_with_parent = true;
  bool shares_files = false;  // see fd_slots.h
  pid_t parent = 0;           // whose death it is
  int gate_fd = -1;           // waits for one byte from here; end of file means: do not run
  int error_fd = -1;          // where a failure is written as ChildError, besides `error` below

  // Groups that it enters before anything else: see sandbox/cgroups/limit_group.h.
  const int* limit_fds = nullptr;
  int limit_count = 0;
  int proxy_fd = -1;  // SandboxNetwork::kProxy: see sandbox/network/listener.h
  // What confines it, if not null. Of a tier with namespaces it is inside of them already.
  const SandboxPlan* sandbox = nullptr;
  std::string_view sandbox_bytes = {};  // as it came; "" if it is for this start alone
  int report_fd = -1;                   // see enter/report.h
  int ruleset_fd = -1;                  // of Landlock, if it was made ahead: see enter/rulesets.h

  using Error = Failure;
  Failure error;
};

// A ChildPlan as kSpawn and kExec ask for it; points into the message, which must outlive it.
struct ChildRequest {
  // Takes the descriptors out of the message. Without `tells_exit` there is no exit socket.
  explicit ChildRequest(Message* message, bool tells_exit = true);
  bool ok() const { return plan.error.step == Step::kNone; }

  ChildPlan plan;
  std::vector<const char*> argv, env;
  std::string_view sandbox;  // an encoded SandboxPlan; "" is none
  UniqueFd stdio[3], exit_socket;
};

// Sends on what a ChildRequest of another process reads, without exit socket, and with the bytes of
// its sandbox if it is to have them. 0 or an errno.
int SendRequest(int socket, const ChildPlan& plan, bool with_sandbox = false);

// Never returns. On failure fills plan->error, writes it to error_fd, and exits with 127.
[[noreturn]] void RunChild(ChildPlan* plan);
// The same in two parts, for ready_child.h: what does not depend on streams, directory and program,
// and the rest. The descriptors are shared with the parent between the two.
void PrepareChild(ChildPlan* plan);
[[noreturn]] void FinishChild(ChildPlan* plan);

// Starts the child with the parent waiting until it has executed or failed. Puts it into the cgroup
// `cgroup_fd` if not -1. Returns its pid and *pidfd, or -1 with plan->error. The pid of a child
// that failed is already reaped.
pid_t StartChild(ChildPlan* plan, int cgroup_fd, int* pidfd);

// Whether a child lives that is started in that cgroup: Linux 6.18 kills it at birth if its
// parent's own group was ever killed (by cgroup.kill, as systemd does with a unit before it starts
// it again) and the new one was not.
bool CanStartIn(int cgroup_fd);

// The same as StartChild, but the child gets a copy of the memory and waits at plan->gate_fd; the
// caller goes on at once.
pid_t StartGatedChild(ChildPlan* plan, int cgroup_fd, int* pidfd);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_CHILD_H_
