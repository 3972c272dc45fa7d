// Violation: a typed fact about something that a policy stopped. Plain data.
#ifndef BERTH_SANDBOX_VIOLATION_H_
#define BERTH_SANDBOX_VIOLATION_H_

#include <stdint.h>
#include <sys/types.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace berth {

struct Violation {
  // Which part of the policy stopped it.
  enum class Layer : uint8_t {
    kSyscall = 1,   // the seccomp filter: `what` is the call, "mount", "socket AF_PACKET"
    kFile = 2,      // mounts or Landlock: "write /etc/passwd"
    kNetwork = 3,   // no network, or the proxy: "connect 1.2.3.4:443", "resolve evil.org"
    kMemory = 4,    // the memory limit: "oom"
    kPids = 5,      // the process limit: "fork"
    kWall = 6,      // the wall-clock limit
    kFileSize = 7,  // the limit on files' sizes
  };
  Layer layer = Layer::kSyscall;
  std::string what;    // what was tried
  std::string reason;  // the rule that stopped it: "network: none", "not on the list of domains"
  pid_t pid = 0;       // who tried, as this machine's /proc shows it; 0: not known
  absl::Time when;
  // Counted from 1 in its session or process. Where some are left out, they were too many to keep.
  int64_t number = 0;

  friend bool operator==(const Violation&, const Violation&) = default;
};

// "syscall", "file", "network", …
absl::string_view ViolationLayerName(Violation::Layer layer);
// "blocked: connect 1.2.3.4:443 (network: none)".
std::string Describe(const Violation& violation);

}  // namespace berth

#endif  // BERTH_SANDBOX_VIOLATION_H_
