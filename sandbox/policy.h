// Policy: what a session may see, write, call, reach and use up. Immutable; copying one is cheap.
//
//   ABSL_ASSIGN_OR_RETURN(Policy policy, Policy::Agent("/srv/project")
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

namespace dangerous {  // made in sandbox/dangerous.h only
class HostNetwork;
class HostPidNamespace;
class InheritedEnvironment;
class RawDockerSocket;
class SeccompOff;
class NestedUserNamespaces;
class TrustedText;
}  // namespace dangerous

// How a policy is enforced. Probed, reported, never weakened silently.
enum class Tier : uint8_t {
  kAuto = 0,        // the strongest that this machine can: pooled, namespaces, then landlock
  kNamespaces = 1,  // user, mount, pid, net, ipc, uts and cgroup namespaces, made at each start
  kPooled = 2,      // the same, made ahead where it can be; each used once
  kLandlock = 3,    // no namespaces: Landlock, seccomp and limits
};
// "auto", "namespaces", "pooled", "landlock".
absl::string_view TierName(Tier tier);
// InvalidArgument for any other word.
absl::StatusOr<Tier> TierFromName(absl::string_view name);

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
    std::string path = {};    // on the host, absolute; of kHidden and kCarve: where it is seen
    std::string inside = {};  // where it is seen; "" is the same place
    Access access = Access::kReadOnly;
    bool optional = false;  // fine if it is not there
    const std::string& seen() const { return inside.empty() ? path : inside; }
    friend bool operator==(const Path&, const Path&) = default;
  };
  class Builder;

  // The workspace writable; in it `.git/hooks`, git's configuration, shell start-up files and the
  // configuration of agents and MCP servers read-only; the system read-only; home hidden; private
  // /tmp and /dev/shm; no network; no capabilities, no new privileges.
  static Builder Agent(absl::string_view workspace);
  // As Agent, for compilers and package managers: larger limits, personality and ptrace of its own.
  static Builder Build(absl::string_view workspace);
  // The system read-only, a private /tmp, nothing else.
  static Builder Strict();
  // "agent", "build" or "strict"; the last takes no workspace.
  static absl::StatusOr<Builder> Preset(absl::string_view name, absl::string_view workspace);

  Tier tier() const;
  Network network() const;
  const std::vector<std::string>& domains() const;  // of kAllowList
  const std::vector<Path>& paths() const;
  const Limits& limits() const;
  // /usr, /bin, /lib…, /opt and what programs need of /etc, read-only.
  bool system() const;
  // An empty, writable home directory of its own.
  bool private_home() const;
  const std::vector<std::string>& tmpfs() const;            // private, empty, writable folders
  const std::vector<std::string>& socket_families() const;  // "unix", "inet", …; sorted
  const std::vector<std::string>& denied_syscalls() const;  // besides those that always are; sorted
  const std::string& hostname() const;
  bool debugging() const;  // ptrace and the like, of its own processes
  // Files that it is kept from are told as violations, by their names: each call that opens, makes
  // or removes one asks the supervisor first, which costs time.
  bool report_files() const;
  // By token.
  bool host_pid_namespace() const;
  bool inherited_environment() const;
  bool docker_socket() const;
  bool seccomp_off() const;
  bool nested_user_namespaces() const;
  // Equal for equal policies, and for no others (SHA-256): what prepared things are cached by.
  const std::string& hash() const;

  // JSON, as `berth run --policy` reads it. FromText(ToText()) is the same policy. Text that asks
  // for a dangerous relaxation is PermissionDenied without the token.
  std::string ToText() const;
  static absl::StatusOr<Policy> FromText(absl::string_view text);
  static absl::StatusOr<Policy> FromText(absl::string_view text, const dangerous::TrustedText&);

  friend bool operator==(const Policy& a, const Policy& b) { return a.hash() == b.hash(); }

 private:
  struct Data;
  struct Hash;
  explicit Policy(std::shared_ptr<const Data> data);
  static absl::StatusOr<Policy> Parse(absl::string_view text, bool trusted);
  std::shared_ptr<const Data> data_;
};

// Nothing is allowed until it is said. Of two settings of one thing the later holds; of two lists
// of domains or families too. Paths may be listed once.
class Policy::Builder {
 public:
  Builder();
  explicit Builder(const Policy& policy);  // begins as that one
  Builder(const Builder& other);
  Builder& operator=(const Builder& other);
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  Builder& System();
  Builder& PrivateHome();
  // Paths are absolute and have no `..`. The IfThere ones are left out where they do not exist.
  Builder& ReadOnly(absl::string_view path);
  Builder& ReadOnlyIfThere(absl::string_view path);
  Builder& ReadWrite(absl::string_view path);
  Builder& ReadWriteIfThere(absl::string_view path);
  // Also of a path that is listed as writable: a preset's workspace.
  Builder& CopyOnWrite(absl::string_view path);
  Builder& Hide(absl::string_view path);
  Builder& Carve(absl::string_view path);
  Builder& CarveIfThere(absl::string_view path);
  // Seen at another place than it has on the host.
  Builder& BindTo(absl::string_view path, absl::string_view inside, Access access);
  Builder& Add(Path path);
  Builder& Tmpfs(absl::string_view path);

  Builder& NoNetwork();
  // "github.com", "*.npmjs.org" (names below it), "example.com:8443".
  Builder& AllowDomains(std::vector<std::string> domains);
  Builder& SocketFamilies(std::vector<std::string> families);
  Builder& DenySyscalls(std::vector<std::string> names);
  Builder& Debugging();
  Builder& ReportFiles();

  Builder& Memory(int64_t bytes);
  Builder& Swap(int64_t bytes);
  Builder& Pids(int64_t count);
  Builder& Cpus(double cores);
  Builder& Wall(absl::Duration time);
  Builder& FileSize(int64_t bytes);
  Builder& OpenFiles(int64_t count);
  Builder& TmpSize(int64_t bytes);

  Builder& Tier(berth::Tier tier);
  Builder& Hostname(absl::string_view name);

  Builder& Relax(const dangerous::HostNetwork&);
  Builder& Relax(const dangerous::HostPidNamespace&);
  Builder& Relax(const dangerous::InheritedEnvironment&);
  Builder& Relax(const dangerous::RawDockerSocket&);
  Builder& Relax(const dangerous::SeccompOff&);
  Builder& Relax(const dangerous::NestedUserNamespaces&);

  // The policy, or the first thing that was wrong.
  absl::StatusOr<Policy> Build() const;

 private:
  friend class Policy;
  Builder& Number(absl::string_view what, int64_t value, int64_t least, int64_t most,
                  int64_t* field);
  void Fail(absl::Status status);

  std::unique_ptr<Data> data_;
  absl::Status status_;
};

}  // namespace berth

#endif  // BERTH_SANDBOX_POLICY_H_
