// Builders of policies.

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
#include "sandbox/policy.h"

namespace berth::capi {
namespace {

using Builder = Policy::Builder;

// A setter that cannot fail by itself: what is wrong is kept by the builder.
template <typename Body>
int32_t With(const berth_policy_builder* builder, Body&& body) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    body(object.builder);
    return absl::OkStatus();
  });
}

template <typename Token>
int32_t Relax(const berth_policy_builder* builder, const Token& token) {
  return With(builder, [&](Builder& it) { it.Relax(token); });
}

using SetList = Builder& (Builder::*)(std::vector<std::string>);
int32_t WithList(const berth_policy_builder* builder, const berth_strings* items,
                 const char* argument, SetList set) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> all, GetStrings(items, argument));
    (object.builder.*set)(std::move(all));
    return absl::OkStatus();
  });
}

absl::Status SetLimit(Builder& it, int32_t limit, int64_t value) {
  switch (limit) {
    case BERTH_LIMIT_MEMORY:
      it.Memory(value);
      return absl::OkStatus();
    case BERTH_LIMIT_SWAP:
      it.Swap(value);
      return absl::OkStatus();
    case BERTH_LIMIT_PIDS:
      it.Pids(value);
      return absl::OkStatus();
    case BERTH_LIMIT_MILLICPUS:
      it.Cpus(static_cast<double>(value) / 1000);
      return absl::OkStatus();
    case BERTH_LIMIT_WALL_MS:
      it.Wall(absl::Milliseconds(value));
      return absl::OkStatus();
    case BERTH_LIMIT_FILE_SIZE:
      it.FileSize(value);
      return absl::OkStatus();
    case BERTH_LIMIT_OPEN_FILES:
      it.OpenFiles(value);
      return absl::OkStatus();
    case BERTH_LIMIT_TMP_SIZE:
      it.TmpSize(value);
      return absl::OkStatus();
  }
  return NoSuch("limit", limit);
}

// The one that the builder would add by the name of the access, so that its checks are the same.
absl::Status AddPath(Builder& it, int32_t access, absl::string_view path, absl::string_view inside,
                     bool if_there) {
  if (access < BERTH_ACCESS_READ_ONLY || access > BERTH_ACCESS_COPY_ON_WRITE) {
    return NoSuch("access", access);
  }
  if (access == BERTH_ACCESS_COPY_ON_WRITE && inside.empty() && !if_there) {
    it.CopyOnWrite(path);  // which may be of a path that is listed as writable
    return absl::OkStatus();
  }
  it.Add({.path = std::string(path),
          .inside = std::string(inside),
          .access = static_cast<Policy::Access>(access),
          .optional = if_there});
  return absl::OkStatus();
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Policy;

int32_t berth_policy_builder_new(berth_policy_builder** builder, const char* preset,
                                 size_t preset_size, const char* workspace, size_t workspace_size,
                                 berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(builder, "builder"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view name, Text(preset, preset_size, "preset"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view place,
                          Text(workspace, workspace_size, "workspace"));
    auto object = std::make_shared<PolicyBuilderObject>();
    if (!name.empty()) {
      ABSL_ASSIGN_OR_RETURN(object->builder, Policy::Preset(name, place));
    } else if (!place.empty()) {
      return absl::InvalidArgumentError("a workspace without a preset");
    }
    return Put(std::move(object), builder);
  });
}

int32_t berth_policy_builder_from(berth_policy_builder** builder, const berth_policy* policy,
                                  berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(builder, "builder"));
    ABSL_ASSIGN_OR_RETURN(const Policy from, GetPolicy(policy));
    auto object = std::make_shared<PolicyBuilderObject>();
    object->builder = Builder(from);
    return Put(std::move(object), builder);
  });
}

void berth_policy_builder_free(berth_policy_builder* builder) {
  Handles::Remove<PolicyBuilderObject>(builder);
}

int32_t berth_policy_builder_add_system(berth_policy_builder* builder) {
  return With(builder, [](Builder& it) { it.System(); });
}

int32_t berth_policy_builder_add_private_home(berth_policy_builder* builder) {
  return With(builder, [](Builder& it) { it.PrivateHome(); });
}

int32_t berth_policy_builder_add_path(berth_policy_builder* builder, int32_t access,
                                      const char* path, size_t path_size, const char* inside,
                                      size_t inside_size, uint32_t flags) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view from, Text(path, path_size, "path"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view to, Text(inside, inside_size, "inside"));
    if ((flags & ~BERTH_PATH_IF_THERE) != 0) return NoSuch("set of path flags", flags);
    return AddPath(object.builder, access, from, to, (flags & BERTH_PATH_IF_THERE) != 0);
  });
}

int32_t berth_policy_builder_add_tmpfs(berth_policy_builder* builder, const char* path,
                                       size_t path_size) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(path, path_size, "path"));
    object.builder.Tmpfs(text);
    return absl::OkStatus();
  });
}

int32_t berth_policy_builder_set_no_network(berth_policy_builder* builder) {
  return With(builder, [](Builder& it) { it.NoNetwork(); });
}

int32_t berth_policy_builder_set_domains(berth_policy_builder* builder,
                                         const berth_strings* domains) {
  return WithList(builder, domains, "domains", &Builder::AllowDomains);
}

int32_t berth_policy_builder_set_socket_families(berth_policy_builder* builder,
                                                 const berth_strings* families) {
  return WithList(builder, families, "families", &Builder::SocketFamilies);
}

int32_t berth_policy_builder_deny_syscalls(berth_policy_builder* builder,
                                           const berth_strings* names) {
  return WithList(builder, names, "names", &Builder::DenySyscalls);
}

int32_t berth_policy_builder_allow_debugging(berth_policy_builder* builder) {
  return With(builder, [](Builder& it) { it.Debugging(); });
}

int32_t berth_policy_builder_report_files(berth_policy_builder* builder) {
  return With(builder, [](Builder& it) { it.ReportFiles(); });
}

int32_t berth_policy_builder_set_limit(berth_policy_builder* builder, int32_t limit,
                                       int64_t value) {
  return Change<PolicyBuilderObject>(
      builder, [&](PolicyBuilderObject& object) { return SetLimit(object.builder, limit, value); });
}

int32_t berth_policy_builder_set_tier(berth_policy_builder* builder, int32_t tier) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    if (tier < BERTH_TIER_AUTO || tier > BERTH_TIER_LANDLOCK) return NoSuch("tier", tier);
    object.builder.Tier(static_cast<berth::Tier>(tier));
    return absl::OkStatus();
  });
}

int32_t berth_policy_builder_set_hostname(berth_policy_builder* builder, const char* name,
                                          size_t name_size) {
  return Change<PolicyBuilderObject>(builder, [&](PolicyBuilderObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    object.builder.Hostname(text);
    return absl::OkStatus();
  });
}

int32_t berth_policy_builder_dangerous_host_network(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::HostNetwork());
}

int32_t berth_policy_builder_dangerous_host_pid_namespace(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::HostPidNamespace());
}

int32_t berth_policy_builder_dangerous_inherited_environment(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::InheritedEnvironment());
}

int32_t berth_policy_builder_dangerous_docker_socket(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::RawDockerSocket());
}

int32_t berth_policy_builder_dangerous_seccomp_off(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::SeccompOff());
}

int32_t berth_policy_builder_dangerous_nested_user_namespaces(berth_policy_builder* builder) {
  return Relax(builder, berth::dangerous::NestedUserNamespaces());
}

int32_t berth_policy_build(berth_policy** policy, const berth_policy_builder* builder,
                           berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(policy, "policy"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<PolicyBuilderObject>(builder, "builder"));
    ABSL_RETURN_IF_ERROR(object->error);
    ABSL_ASSIGN_OR_RETURN(Policy built, object->builder.Build());
    return PutPolicy(std::move(built), policy);
  });
}
