// What a Policy holds. For policy*.cc and presets.cc only.
#ifndef BERTH_SANDBOX_POLICY_DATA_H_
#define BERTH_SANDBOX_POLICY_DATA_H_

#include <string>
#include <vector>

#include "absl/base/call_once.h"
#include "sandbox/limits.h"
#include "sandbox/policy.h"

namespace berth {

// Worked out when it is asked for, which most never do; a copy begins anew.
struct Policy::Hash {
  Hash() = default;
  Hash(const Hash&) {}
  Hash& operator=(const Hash&) = delete;

  mutable absl::once_flag once;
  mutable std::string text;
};

struct Policy::Data {
  Tier tier = Tier::kAuto;
  bool system = false;
  bool private_home = false;
  std::vector<Path> paths;
  std::vector<std::string> tmpfs;
  Network network = Network::kNone;
  std::vector<std::string> domains;
  std::vector<std::string> socket_families = {"inet", "inet6", "unix"};
  std::vector<std::string> denied_syscalls;
  std::string hostname;
  bool debugging = false;
  bool report_files = false;
  Limits limits;
  bool host_pid_namespace = false;
  bool inherited_environment = false;
  bool docker_socket = false;
  bool seccomp_off = false;
  bool nested_user_namespaces = false;
  Hash hash;  // of all above
};

}  // namespace berth

#endif  // BERTH_SANDBOX_POLICY_DATA_H_
