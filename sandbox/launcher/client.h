// LauncherClient: the host's side of the launcher.
//
// Start puts the helper into a sealed memfd and runs it; from then on processes are started by
// asking it. The host is never forked: the helper is started by a child that shares the host's
// memory until it executes (as posix_spawn does), and by a second one below that, so that the
// helper is not the host's child and its end raises no SIGCHLD. When the client is destroyed, or
// the host dies, the launcher ends all that it spawned.
//
// Threads: any, at once. Sandboxes with namespaces are made beside each other; other requests are
// served one after another.
#ifndef BERTH_SANDBOX_LAUNCHER_CLIENT_H_
#define BERTH_SANDBOX_LAUNCHER_CLIENT_H_

#include <stdint.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {

struct SpawnRequest {
  std::vector<std::string> argv, env;
  std::string cwd;              // absolute
  bool terminal = false;        // stdin is a terminal and becomes the controlling one
  int stdio[3] = {-1, -1, -1};  // -1: /dev/null
  std::string plan;             // an encoded SandboxPlan; "" is none
};

struct Spawned {
  pid_t pid = 0;
  UniqueFd pidfd;
  // Gets an ExitNotice, is closed by the launcher once the whole tree is gone.
  UniqueFd exit_socket;
  std::string cgroup;     // "" if the tree is held otherwise
  bool prepared = false;  // its sandbox was (SandboxTier::kPooled)
  uint64_t requested_ns = 0, received_ns = 0, started_ns = 0, replied_ns = 0;
};

class LauncherClient {
 public:
  // The launcher's cgroup is called "berth-<tag>-<pid>-<start time>-<pid namespace>": by the tag it
  // is known whose it is after the launcher was killed.
  static absl::StatusOr<std::unique_ptr<LauncherClient>> Start(const std::string& tag);
  // The same without waiting for the launcher to be ready: the first request does. What the host
  // has to do before that request is done meanwhile.
  static absl::StatusOr<std::unique_ptr<LauncherClient>> Begin(const std::string& tag);
  ~LauncherClient();

  // Returns once the program has been executed. NotFound, PermissionDenied, InvalidArgument, … if
  // it could not be, naming the step, and then nothing has run.
  absl::StatusOr<Spawned> Spawn(const SpawnRequest& request);
  // Makes sandboxes of that encoded plan ready now, or what of one with namespaces does not depend
  // on the plan, instead of after its second start, and returns how many wait for a program. 0:
  // this plan's cannot be prepared.
  absl::StatusOr<int> Prepare(absl::string_view plan);
  // Says what the limits of the first start will be, and whether it has namespaces and no network,
  // so that the launcher makes groups and namespaces while its plan is worked out. Later ones find
  // what those before them have left: then it does nothing.
  void Expect(const cgroups::GroupLimits& limits, bool encloses);
  // TERM, grace, KILL for the whole tree of a spawned process; its exit socket tells the end.
  absl::Status Stop(pid_t pid, uint32_t grace_ms);
  // The body of kProcessViolationsAre for a spawned process; see sandbox/launcher/protocol.h.
  absl::StatusOr<std::string> Violations(pid_t pid, uint64_t since);
  // Starts a keeper and returns the owner's end of its control socket.
  absl::StatusOr<UniqueFd> StartKeeper(absl::string_view title);

  // It was killed; all requests fail. Its processes have died with it, and this object's end sees
  // to their descendants.
  bool gone() const;

  // Once something has been asked of it, or of one from Start.
  pid_t pid() const { return pid_; }

 private:
  LauncherClient() = default;

  // Two ends of an exit socket.
  struct ExitPair {
    UniqueFd ours, theirs;
  };
  static absl::StatusOr<ExitPair> MakeExitPair();

  // Waits for the launcher's first word, once.
  absl::Status Greet() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends a request and waits for its answer. The first need not wait until the launcher is ready.
  absl::Status Ask(uint16_t type, absl::string_view body, const int* fds, int count,
                   uint16_t answer_type, Message* answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  UniqueFd socket_ ABSL_GUARDED_BY(mutex_);
  ExitPair next_exit_ ABSL_GUARDED_BY(mutex_);  // made while the launcher works on the start before
  bool started_ ABSL_GUARDED_BY(mutex_) = false;  // something, or is about to
  std::string cgroup_;  // of all that it spawns; "" if they are held otherwise
  pid_t pid_ = 0;
};

// "execute 'make': No such file or directory", with the code that fits: what kept a program from
// running.
// `path` is what a step of a sandboxed start was about, if it is known.
absl::Status StartError(Step step, int error, absl::string_view program, absl::string_view cwd,
                        absl::string_view path = "");

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_CLIENT_H_
