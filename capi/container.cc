// What containers and Nix environments need to know besides.

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/objects.h"
#include "runtime/spec.h"

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::ContainerSpec;

int32_t berth_session_spec_set_image(berth_session_spec* spec, const char* image, size_t image_size,
                                     int32_t pull) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view name, Text(image, image_size, "image"));
    if (pull < BERTH_PULL_IF_MISSING || pull > BERTH_PULL_ALWAYS) return NoSuch("pull", pull);
    object.spec.container.image = std::string(name);
    object.spec.container.pull = static_cast<ContainerSpec::Pull>(pull);
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_add_mount(berth_session_spec* spec, const char* source,
                                     size_t source_size, const char* target, size_t target_size,
                                     int32_t read_only) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view from, Text(source, source_size, "source"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view to, Text(target, target_size, "target"));
    object.spec.container.mounts.push_back(
        {.source = std::string(from), .target = std::string(to), .read_only = read_only != 0});
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_add_port(berth_session_spec* spec, uint16_t inside, uint16_t host,
                                    const char* address, size_t address_size, int32_t udp) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view at, Text(address, address_size, "address"));
    berth::PortMapping port = {.inside = inside, .host = host, .udp = udp != 0};
    if (!at.empty()) port.address = std::string(at);
    object.spec.container.ports.push_back(port);
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_user(berth_session_spec* spec, const char* user, size_t user_size) {
  return SetText<SessionSpecObject>(spec, user, user_size, "user", [](auto& object) -> auto& {
    return object.spec.container.user;
  });
}

int32_t berth_session_spec_set_network(berth_session_spec* spec, const char* network,
                                       size_t network_size) {
  return SetText<SessionSpecObject>(
      spec, network, network_size, "network",
      [](auto& object) -> auto& { return object.spec.container.network; });
}

int32_t berth_session_spec_set_container_flags(berth_session_spec* spec, uint32_t flags) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    if ((flags & ~(BERTH_CONTAINER_HOST_USER | BERTH_CONTAINER_NO_INIT | BERTH_CONTAINER_REUSE)) !=
        0) {
      return NoSuch("set of container flags", flags);
    }
    object.spec.container.host_user = (flags & BERTH_CONTAINER_HOST_USER) != 0;
    object.spec.container.init = (flags & BERTH_CONTAINER_NO_INIT) == 0;
    object.spec.container.reuse = (flags & BERTH_CONTAINER_REUSE) != 0;
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_flake(berth_session_spec* spec, const char* flake, size_t flake_size,
                                     const char* shell, size_t shell_size, int32_t wrapped) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view folder, Text(flake, flake_size, "flake"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view name, Text(shell, shell_size, "shell"));
    object.spec.nix = {
        .flake = std::string(folder), .shell = std::string(name), .wrapped = wrapped != 0};
    return absl::OkStatus();
  });
}
