#include "sandbox/policy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/sha256.h"
#include "sandbox/limits.h"
#include "sandbox/policy_data.h"

namespace berth {

absl::string_view TierName(Tier tier) {
  switch (tier) {
    case Tier::kAuto:
      return "auto";
    case Tier::kNamespaces:
      return "namespaces";
    case Tier::kPooled:
      return "pooled";
    case Tier::kLandlock:
      return "landlock";
  }
  return "unknown";
}

absl::StatusOr<Tier> TierFromName(absl::string_view name) {
  for (const Tier tier : {Tier::kAuto, Tier::kNamespaces, Tier::kPooled, Tier::kLandlock}) {
    if (name == TierName(tier)) return tier;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tier '", name, "': it is none of auto, namespaces, pooled, landlock"));
}

Policy::Policy(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Tier Policy::tier() const { return data_->tier; }
Policy::Network Policy::network() const { return data_->network; }
const std::vector<std::string>& Policy::domains() const { return data_->domains; }
const std::vector<Policy::Path>& Policy::paths() const { return data_->paths; }
const Limits& Policy::limits() const { return data_->limits; }
bool Policy::system() const { return data_->system; }
bool Policy::private_home() const { return data_->private_home; }
const std::vector<std::string>& Policy::tmpfs() const { return data_->tmpfs; }
const std::vector<std::string>& Policy::socket_families() const { return data_->socket_families; }
const std::vector<std::string>& Policy::denied_syscalls() const { return data_->denied_syscalls; }
const std::string& Policy::hostname() const { return data_->hostname; }
bool Policy::debugging() const { return data_->debugging; }
bool Policy::report_files() const { return data_->report_files; }
bool Policy::host_pid_namespace() const { return data_->host_pid_namespace; }
bool Policy::inherited_environment() const { return data_->inherited_environment; }
bool Policy::docker_socket() const { return data_->docker_socket; }
bool Policy::seccomp_off() const { return data_->seccomp_off; }
bool Policy::nested_user_namespaces() const { return data_->nested_user_namespaces; }

const std::string& Policy::hash() const {
  // The text says everything, and is the same for the same policy.
  absl::call_once(data_->hash.once, [this] { data_->hash.text = Sha256Hex(ToText()); });
  return data_->hash.text;
}

}  // namespace berth
