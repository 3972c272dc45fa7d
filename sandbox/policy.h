// Policy: what a session may see, write, call, reach and use up. Immutable; copying one is cheap.
//
//   ABSL_ASSIGN_OR_RETURN(Policy policy, Policy::Agent("/home/me/project")
//                                            .ReadOnly("/opt/tools")
//                                            .AllowDomains({"github.com", "*.npmjs.org"})
//                                            .Memory(2 << 30).Pids(256)
//                                            .Build());
//   runtime->CreateSession({.name = "fix-42", .command = …, .policy = policy});
//
// What is not listed cannot be seen. The builder keeps its first error and reports it from Build.
// Relaxations that are dangerous take a token from sandbox/dangerous.h, a target of its own.
// Threads: a Policy is a value; share it freely. A Builder is for one thread.
#ifndef BERTH_SANDBOX_POLICY_H_
#define BERTH_SANDBOX_POLICY_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/limits.h"

namespace berth {

// How a policy is enforced. Probed, reported, never weakened silently.
enum class Tier : uint8_t {
  kAuto = 0,        // the strongest that this machine can: pooled, namespaces, then landlock
  kNamespaces = 1,  // user, mount, pid, net, ipc, uts and cgroup namespaces, made at each start
  kPooled = 2,      // the same, from a prepared template
  kLandlock = 3,    // no namespaces: Landlock, seccomp and limits
};
// "auto", "namespaces", "pooled", "landlock".
absl::string_view TierName(Tier tier);

class Policy {
 public:
  enum class Network : uint8_t {
    kNone = 0,       // its own loopback and nothing else
    kHost = 1,       // the host's; by token
    kAllowList = 2,  // the listed domains, through our proxy
  };
  enum class Access : uint8_t {
    kReadOnly = 1,
    kReadWrite = 2,
    kHidden = 3,       // seen as empty
    kCarve = 4,        // below a writable path: read-only, and cannot be made if it is not there
    kCopyOnWrite = 5,  // writable, and the changes are kept apart
  };
  struct Path {
    std::string path;    // on the host, absolute
    std::string inside;  // where it is seen; "" is the same place
    Access access = Access::kReadOnly;
    bool optional = false;
    friend bool operator==(const Path&, const Path&) = default;
  };
  class Builder;

  // The workspace writable; in it `.git/hooks`, `.git/config`, shell start-up files and the
  // configuration of agents and MCP servers read-only; the system read-only; home hidden; private
  // /tmp and /dev/shm; no network; no capabilities, no new privileges.
  static Builder Agent(absl::string_view workspace);
  // As Agent, for compilers and package managers: larger limits, personality and ptrace of its own.
  static Builder Build(absl::string_view workspace);
  // The system read-only, a private /tmp, nothing else.
  static Builder Strict();

  Tier tier() const;
  Network network() const;
  const std::vector<std::string>& domains() const;  // of kAllowList
  const std::vector<Path>& paths() const;
  const Limits& limits() const;
  // Equal for equal policies: what prepared things are cached by.
  const std::string& hash() const;

  // JSON, as `berth run --policy` reads it. FromText(ToText()) is the same policy.
  std::string ToText() const;
  static absl::StatusOr<Policy> FromText(absl::string_view text);

 private:
  struct Data;
  explicit Policy(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_POLICY_H_
