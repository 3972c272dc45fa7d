// Identity says which process is meant, for as long as the machine runs: a pid alone is used again
// by the kernel, a pid with its start time on this boot is not (and a pidfs inode never is,
// Linux 6.9 and later).
//
//   absl::StatusOr<Identity> child = IdentifyProcess(pid);       // while it is known to be ours
//   ...
//   absl::StatusOr<UniqueFd> pidfd = OpenProcess(*child);        // later, in any process
//   if (pidfd.ok()) pidfd_send_signal(pidfd->get(), SIGTERM, nullptr, 0);
//
// Plain values; every function is thread-safe and keeps no state. Nothing here signals or waits.
#ifndef BERTH_RUNTIME_RECORD_IDENTITY_H_
#define BERTH_RUNTIME_RECORD_IDENTITY_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

struct Identity {
  int64_t pid = 0;  // 0: there is no such process
  std::string boot_id;
  uint64_t start_time = 0;     // field 22 of /proc/PID/stat, clock ticks since boot
  uint64_t pidfs_inode = 0;    // 0: not known
  uint64_t pid_namespace = 0;  // inode of the namespace in which `pid` counts; 0: not known

  bool operator==(const Identity&) const = default;
};

enum class Liveness { kAlive, kDead, kUnknown };

// "alive", "dead" or "unknown".
absl::string_view LivenessName(Liveness liveness);

// NotFound if there is no such process or it is a zombie; FailedPrecondition if /proc is not
// mounted or shows another pid namespace than the caller's.
absl::StatusOr<Identity> IdentifyProcess(pid_t pid);
absl::StatusOr<Identity> IdentifySelf();

// This boot of this machine, as in /proc/sys/kernel/random/boot_id.
absl::StatusOr<std::string> BootId();

// kDead is a proof: another boot, no such pid, a zombie, or a pid that is another process now.
// kUnknown where nothing is proven: no /proc, another pid namespace, an identity of nobody (pid 0).
Liveness CheckIdentity(const Identity& identity);

// The same for who checks many: what is the same for all (/proc, this boot, this pid namespace) is
// looked up once. Thread-safe.
class IdentityChecker {
 public:
  IdentityChecker();
  ~IdentityChecker();
  IdentityChecker(const IdentityChecker&) = delete;
  IdentityChecker& operator=(const IdentityChecker&) = delete;

  Liveness Check(const Identity& identity) const;
  // It is proven to run, and neither stopped nor stuck in the kernel. Two system calls less than
  // Check. False proves nothing.
  bool IsAwake(const Identity& identity) const;

 private:
  struct Here;
  const std::unique_ptr<const Here> here_;
};

// A pidfd that is proven to be of `identity`. NotFound if that process is gone (a zombie is) or its
// pid is another's now; FailedPrecondition where neither can be proven.
absl::StatusOr<UniqueFd> OpenProcess(const Identity& identity);

}  // namespace berth

#endif  // BERTH_RUNTIME_RECORD_IDENTITY_H_
