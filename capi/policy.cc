// Policies: what they say, and whether this machine can enforce them.

#include "sandbox/policy.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "capi/policy_objects.h"
#include "sandbox/dangerous.h"
#include "sandbox/limits.h"
#include "sandbox/tiers.h"

namespace berth::capi {
namespace {

int64_t NumberOf(const Policy& policy, int32_t field) {
  switch (field) {
    case BERTH_POLICY_TIER:
      return static_cast<int64_t>(policy.tier());
    case BERTH_POLICY_NETWORK:
      return static_cast<int64_t>(policy.network());
    case BERTH_POLICY_SYSTEM:
      return policy.system();
    case BERTH_POLICY_PRIVATE_HOME:
      return policy.private_home();
    case BERTH_POLICY_DEBUGGING:
      return policy.debugging();
    case BERTH_POLICY_HOST_PID_NAMESPACE:
      return policy.host_pid_namespace();
    case BERTH_POLICY_INHERITED_ENVIRONMENT:
      return policy.inherited_environment();
    case BERTH_POLICY_DOCKER_SOCKET:
      return policy.docker_socket();
    case BERTH_POLICY_SECCOMP_OFF:
      return policy.seccomp_off();
    case BERTH_POLICY_NESTED_USER_NAMESPACES:
      return policy.nested_user_namespaces();
    case BERTH_POLICY_REPORT_FILES:
      return policy.report_files();
  }
  return -1;
}

int64_t LimitOf(const Limits& limits, int32_t limit) {
  switch (limit) {
    case BERTH_LIMIT_MEMORY:
      return limits.memory_bytes;
    case BERTH_LIMIT_SWAP:
      return limits.swap_bytes;
    case BERTH_LIMIT_PIDS:
      return limits.pids;
    case BERTH_LIMIT_MILLICPUS:
      return limits.cpus < 0 ? -1 : llround(limits.cpus * 1000);
    case BERTH_LIMIT_WALL_MS:
      return limits.wall == absl::InfiniteDuration() ? -1 : absl::ToInt64Milliseconds(limits.wall);
    case BERTH_LIMIT_FILE_SIZE:
      return limits.file_bytes;
    case BERTH_LIMIT_OPEN_FILES:
      return limits.open_files;
    case BERTH_LIMIT_TMP_SIZE:
      return limits.tmp_bytes;
  }
  return -1;
}

const std::vector<std::string>* ListOf(const Policy& policy, int32_t field) {
  switch (field) {
    case BERTH_POLICY_DOMAINS:
      return &policy.domains();
    case BERTH_POLICY_TMPFS:
      return &policy.tmpfs();
    case BERTH_POLICY_SOCKET_FAMILIES:
      return &policy.socket_families();
    case BERTH_POLICY_DENIED_SYSCALLS:
      return &policy.denied_syscalls();
  }
  return nullptr;
}

}  // namespace

absl::Status PutPolicy(Policy policy, berth_policy** out) {
  return Put(std::make_shared<PolicyObject>(PolicyObject{std::move(policy)}), out);
}

absl::StatusOr<Policy> GetPolicy(const berth_policy* policy) {
  ABSL_ASSIGN_OR_RETURN(const auto object, Get<PolicyObject>(policy, "policy"));
  return object->policy;
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Policy;

const char* berth_tier_name(int32_t tier) {
  const bool known = tier >= BERTH_TIER_AUTO && tier <= BERTH_TIER_LANDLOCK;
  return GiveName(known, known ? berth::TierName(static_cast<berth::Tier>(tier)) : "");
}

int32_t berth_tier_from_name(int32_t* tier, const char* name, size_t name_size,
                             berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(tier, "tier"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    ABSL_ASSIGN_OR_RETURN(const berth::Tier found, berth::TierFromName(text));
    *tier = static_cast<int32_t>(found);
    return absl::OkStatus();
  });
}

int32_t berth_policy_from_text(berth_policy** policy, const char* text, size_t text_size,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(policy, "policy"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view json, Text(text, text_size, "text"));
    ABSL_ASSIGN_OR_RETURN(Policy parsed, Policy::FromText(json));
    return PutPolicy(std::move(parsed), policy);
  });
}

int32_t berth_policy_dangerous_from_text(berth_policy** policy, const char* text, size_t text_size,
                                         berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(policy, "policy"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view json, Text(text, text_size, "text"));
    ABSL_ASSIGN_OR_RETURN(Policy parsed, Policy::FromText(json, berth::dangerous::TrustedText()));
    return PutPolicy(std::move(parsed), policy);
  });
}

void berth_policy_free(berth_policy* policy) { Handles::Remove<PolicyObject>(policy); }

int32_t berth_policy_to_text(berth_string** text, const berth_policy* policy, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(text, "text"));
    ABSL_ASSIGN_OR_RETURN(const Policy it, GetPolicy(policy));
    return PutString(it.ToText(), text);
  });
}

int64_t berth_policy_number(const berth_policy* policy, int32_t field) {
  const std::shared_ptr<PolicyObject> object = Handles::Find<PolicyObject>(policy);
  return object == nullptr ? -1 : NumberOf(object->policy, field);
}

int64_t berth_policy_limit(const berth_policy* policy, int32_t limit) {
  const std::shared_ptr<PolicyObject> object = Handles::Find<PolicyObject>(policy);
  return object == nullptr ? -1 : LimitOf(object->policy.limits(), limit);
}

const char* berth_policy_text(const berth_policy* policy, int32_t field, size_t* size) {
  const std::shared_ptr<PolicyObject> object = Handles::Find<PolicyObject>(policy);
  if (object == nullptr) return GiveText(nullptr, size);
  if (field == BERTH_POLICY_HASH) return GiveText(&object->policy.hash(), size);
  return GiveText(field == BERTH_POLICY_HOSTNAME ? &object->policy.hostname() : nullptr, size);
}

int32_t berth_policy_list(berth_strings** items, const berth_policy* policy, int32_t field,
                          berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(items, "items"));
    ABSL_ASSIGN_OR_RETURN(const Policy it, GetPolicy(policy));
    const std::vector<std::string>* const list = ListOf(it, field);
    if (list == nullptr) return NoSuch("list of a policy", field);
    return PutStrings(*list, items);
  });
}

int32_t berth_policy_path_at(berth_policy_path* path, const berth_policy* policy, size_t index,
                             berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(path, "path"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<PolicyObject>(policy, "policy"));
    const std::vector<Policy::Path>& all = object->policy.paths();
    if (index >= all.size()) return NotInRange(index, "path");
    const Policy::Path& it = all[index];
    *path = {it.path.c_str(),
             it.path.size(),
             it.seen().c_str(),
             it.seen().size(),
             static_cast<int32_t>(it.access),
             it.optional ? 1 : 0};
    return absl::OkStatus();
  });
}

int32_t berth_policy_check(int32_t* tier, berth_strings** gaps, const berth_policy* policy,
                           berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(tier, "tier"));
    ABSL_ASSIGN_OR_RETURN(const Policy it, GetPolicy(policy));
    ABSL_ASSIGN_OR_RETURN(const berth::Tier chosen,
                          berth::ChooseTier(it, berth::TierReport::Probe()));
    std::vector<std::string> words;
    if (chosen == berth::Tier::kLandlock) words = berth::LandlockGaps(it);
    if (gaps != nullptr) {
      ABSL_RETURN_IF_ERROR(PutStrings(std::move(words), gaps));
    }
    *tier = static_cast<int32_t>(chosen);
    return absl::OkStatus();
  });
}
