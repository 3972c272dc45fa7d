// Init: the first process of a sandbox, between the helper and the program.
//
// It is made by clone with new namespaces, in a copy of the helper's memory, non-dumpable as the
// helper is. As pid 1 inside it maps the ids, builds the root, gives up its privileges, starts the
// program (which is never pid 1: that one ignores signals and has to reap), and then only reaps, in
// a filter of its own that leaves it seven system calls. When the program ends init says how and
// ends too, and the kernel kills everything that is left inside; so does whoever kills init.
//
// One that parks has prepared all that no host sees (root.h) and waits for a program to run; it is
// used once. One that is early does not know its plan yet, and makes meanwhile what every plan
// without a network has: all namespaces, and the beginning of a root.
//
// It forwards no signals: the helper sends them to the program itself, and pid 1 of a namespace
// does not hear those that it has not asked for.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_INIT_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_INIT_H_

#include <sys/types.h>

#include "sandbox/launcher/child.h"

namespace berth::launcher {

// The namespaces that are handed over for others to join, in this order.
inline constexpr int kNamespaceCount = 7;
inline constexpr const char* kNamespaceNames[kNamespaceCount] = {"user", "mnt", "net",   "ipc",
                                                                 "uts",  "pid", "cgroup"};

struct InitPlan {
  ChildPlan* child = nullptr;  // with a sandbox and a report_fd; its gate_fd is waited at first
  uid_t uid = 0;
  gid_t gid = 0;
  bool hands_over_namespaces = false;
  // Joins these instead of making some: not an init then, but a parent outside for one program.
  const int* joins = nullptr;
  // Prepares all that can be, says so, and waits for a SendRequest that says what to run.
  bool parks = false;
  // Waits for a SendRequest that says what its sandbox is, too. `child` has none yet.
  bool early = false;
};

[[noreturn]] void RunInit(InitPlan* plan);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_INIT_H_
