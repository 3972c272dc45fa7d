#include "runtime/docker/container_config.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/labels.h"
#include "runtime/docker/relay/relay_image.h"
#include "runtime/record/record.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/limits.h"
#include "sandbox/policy.h"
#include "sandbox/seccomp/filter.h"

namespace berth {
namespace {

using Json = nlohmann::json;

bool IsBelow(absl::string_view path, absl::string_view folder) {
  return path == folder || folder == "/" || absl::StartsWith(path, absl::StrCat(folder, "/"));
}

// Absolute, without "." and "..", no control characters: as the engine would take it.
absl::Status CheckPath(absl::string_view path, absl::string_view what) {
  const auto bad = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(what, " '", absl::CHexEscape(path), "': ", why));
  };
  if (path.empty() || path[0] != '/') return bad("give an absolute path");
  for (const char c : path) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)))
      return bad("it has a control character");
  }
  for (absl::string_view part : absl::StrSplit(path.substr(1), '/')) {
    if (part == "." || part == "..") return bad("it has '.' or '..' in it");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> MountSource(const Mount& mount, const EngineAddress& address,
                                        bool allow_socket) {
  ABSL_RETURN_IF_ERROR(CheckPath(mount.source, "mount source"));
  if (!address.is_unix()) return mount.source;  // of a machine that we cannot see
  char* resolved = realpath(mount.source.c_str(), nullptr);
  if (resolved == nullptr)
    return ErrnoStatus(errno, absl::StrCat("resolve mount source '", mount.source, "'"));
  const std::string source = resolved;
  free(resolved);
  char* socket = realpath(address.path().c_str(), nullptr);
  const std::string engine = socket != nullptr ? socket : address.path();
  free(socket);
  if (!allow_socket && IsBelow(engine, source)) {
    return absl::FailedPreconditionError(
        absl::StrCat("mount source '", mount.source,
                     "' has the engine's own socket in it, and with that the "
                     "whole machine"));
  }
  return source;
}

absl::Status AddMounts(const SessionSpec& spec, const EngineAddress& address, Json* host) {
  Json mounts = Json::array();
  for (const Mount& mount : spec.container.mounts) {
    ABSL_RETURN_IF_ERROR(CheckPath(mount.target, "mount target"));
    if (mount.target == "/" || IsBelow(mount.target, kInsideFolder)) {
      return absl::InvalidArgumentError(
          absl::StrCat("mount target '", mount.target, "' is berth's own place"));
    }
    ABSL_ASSIGN_OR_RETURN(
        const std::string source,
        MountSource(mount, address, spec.policy.has_value() && spec.policy->docker_socket()));
    if (spec.policy.has_value()) {
      // What is not mounted cannot be seen at all; what is must be as the policy has it.
      for (const Policy::Path& path : spec.policy->paths()) {
        if (!IsBelow(path.path, source) && !IsBelow(source, path.path)) continue;
        const bool allowed = path.access == Policy::Access::kReadWrite ||
                             (path.access == Policy::Access::kReadOnly && mount.read_only) ||
                             (path.access == Policy::Access::kCarve && mount.read_only);
        if (allowed) continue;
        // A writable place above may hold it: then the nearer rule counts, and it is not this one.
        if (IsBelow(source, path.path) && source != path.path) {
          bool nearer = false;
          for (const Policy::Path& other : spec.policy->paths()) {
            nearer |= other.path.size() > path.path.size() && IsBelow(source, other.path) &&
                      other.access == Policy::Access::kReadWrite;
          }
          if (nearer) continue;
        }
        return absl::FailedPreconditionError(absl::StrCat(
            "mount source '", mount.source, "' shows '", path.path,
            "' in a way that the policy forbids, and docker cannot hide a part of a mount"));
      }
    }
    mounts.push_back({{"Type", "bind"},
                      {"Source", source},
                      {"Target", mount.target},
                      {"ReadOnly", mount.read_only}});
  }
  if (!mounts.empty()) (*host)["Mounts"] = std::move(mounts);
  return absl::OkStatus();
}

absl::Status AddPorts(const SessionSpec& spec, Json* config, Json* host) {
  for (const PortMapping& port : spec.container.ports) {
    if (port.inside == 0) return absl::InvalidArgumentError("port 0 cannot be published");
    char buffer[16];
    if (inet_pton(AF_INET, port.address.c_str(), buffer) != 1 &&
        inet_pton(AF_INET6, port.address.c_str(), buffer) != 1) {
      return absl::InvalidArgumentError(absl::StrCat("address '", absl::CHexEscape(port.address),
                                                     "' of port ", port.inside,
                                                     ": give a numeric one"));
    }
    const std::string key = absl::StrCat(port.inside, port.udp ? "/udp" : "/tcp");
    (*config)["ExposedPorts"][key] = Json::object();
    (*host)["PortBindings"][key].push_back(
        {{"HostIp", port.address}, {"HostPort", port.host == 0 ? "" : absl::StrCat(port.host)}});
  }
  return absl::OkStatus();
}

void AddLimits(const Limits& limits, Json* host) {
  if (limits.memory_bytes >= 0) {
    (*host)["Memory"] = limits.memory_bytes;
    // The engine's own default would let it swap as much again.
    (*host)["MemorySwap"] = limits.memory_bytes + std::max<int64_t>(limits.swap_bytes, 0);
  }
  if (limits.pids >= 0) (*host)["PidsLimit"] = limits.pids;
  if (limits.cpus >= 0) (*host)["NanoCpus"] = static_cast<int64_t>(limits.cpus * 1e9);
  Json ulimits = Json::array();
  if (limits.file_bytes >= 0)
    ulimits.push_back(
        {{"Name", "fsize"}, {"Soft", limits.file_bytes}, {"Hard", limits.file_bytes}});
  if (limits.open_files >= 0)
    ulimits.push_back(
        {{"Name", "nofile"}, {"Soft", limits.open_files}, {"Hard", limits.open_files}});
  if (!ulimits.empty()) (*host)["Ulimits"] = std::move(ulimits);
  if (limits.tmp_bytes >= 0) {
    (*host)["Tmpfs"]["/tmp"] = absl::StrCat("size=", limits.tmp_bytes);
    (*host)["ShmSize"] = limits.tmp_bytes;
  }
}

// What a policy says besides limits, network and system calls.
absl::Status AddPolicy(const Policy& policy, Json* config, Json* host) {
  if (policy.tier() != Tier::kAuto) {
    return absl::UnimplementedError(absl::StrCat(
        "tier '", TierName(policy.tier()), "': a container is the engine's own kind of isolation"));
  }
  if (policy.host_pid_namespace()) {
    return absl::UnimplementedError("a session's container has processes of its own only");
  }
  (*host)["CapDrop"] = {"ALL"};
  (*host)["SecurityOpt"] = {"no-new-privileges"};
  if (policy.seccomp_off()) (*host)["SecurityOpt"].push_back("seccomp=unconfined");
  for (const std::string& path : policy.tmpfs()) {
    if (!(*host)["Tmpfs"].contains(path)) (*host)["Tmpfs"][path] = "";
  }
  if (!policy.hostname().empty()) (*config)["Hostname"] = policy.hostname();
  return absl::OkStatus();
}

absl::Status AddNetwork(const SessionSpec& spec, Json* host) {
  std::string network = spec.container.network;
  if (absl::StrContains(network, "container:")) {
    return absl::InvalidArgumentError("a session does not share another container's network");
  }
  if (spec.policy.has_value()) {
    switch (spec.policy->network()) {
      case Policy::Network::kNone:
        if (!network.empty() && network != "none") {
          return absl::FailedPreconditionError(
              absl::StrCat("network '", network, "': the policy allows none"));
        }
        network = "none";
        break;
      case Policy::Network::kHost:
        break;
      case Policy::Network::kAllowList:
        return absl::UnimplementedError(
            "docker cannot hold a container to a list of domains; use the native backend, or a "
            "policy without network");
    }
  }
  if (network == "host" &&
      (!spec.policy.has_value() || spec.policy->network() != Policy::Network::kHost)) {
    return absl::FailedPreconditionError(
        "network 'host' takes a policy that allows the host's network");
  }
  if (!network.empty()) (*host)["NetworkMode"] = network;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> MakeContainerConfig(const SessionSpec& spec, const EngineAddress& address,
                                         const std::string& image_id) {
  const ContainerSpec& wanted = spec.container;
  if (!wanted.init) {
    return absl::UnimplementedError(
        "init = false: the first process of a session's container is berth's own");
  }
  Json config, host;
  config["Image"] = image_id;
  config["Entrypoint"] = {kInsidePath, "first"};
  config["Cmd"] = Json::array();
  // Streams and sizes are the relay's: the engine carries bytes, keeps none, and adds no terminal.
  config["Tty"] = false;
  config["OpenStdin"] = true;
  config["StdinOnce"] = false;
  config["AttachStdin"] = config["AttachStdout"] = config["AttachStderr"] = true;
  config["StopSignal"] = "SIGTERM";
  host["LogConfig"] = {{"Type", "none"}, {"Config", Json::object()}};
  host["RestartPolicy"] = {{"Name", "no"}};
  host["Init"] = false;
  if (wanted.host_user && !wanted.user.empty())
    return absl::InvalidArgumentError("give either a user or host_user");
  std::string user = wanted.user;
  if (wanted.host_user) user = absl::StrCat(geteuid(), ":", getegid());
  for (const char c : user) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c)))
      return absl::InvalidArgumentError(absl::StrCat("user '", absl::CHexEscape(user), "'"));
  }
  if (!user.empty()) config["User"] = user;
  ABSL_RETURN_IF_ERROR(AddMounts(spec, address, &host));
  ABSL_RETURN_IF_ERROR(AddPorts(spec, &config, &host));
  ABSL_RETURN_IF_ERROR(AddNetwork(spec, &host));
  if (spec.policy.has_value()) {
    AddLimits(spec.policy->limits(), &host);
    ABSL_RETURN_IF_ERROR(AddPolicy(*spec.policy, &config, &host));
  }
  config["HostConfig"] = std::move(host);
  return config;
}

absl::StatusOr<std::string> MakeFilter(const SessionSpec& spec) {
  if (!spec.policy.has_value() || spec.policy->seccomp_off()) return "";
  seccomp::FilterSpec wanted;
  for (const std::string& name : spec.policy->socket_families()) {
    if (name == "unix") wanted.sockets.push_back(AF_UNIX);
    if (name == "inet") wanted.sockets.push_back(AF_INET);
    if (name == "inet6") wanted.sockets.push_back(AF_INET6);
    if (name == "netlink") wanted.sockets.push_back(AF_NETLINK);
  }
  wanted.debugging = spec.policy->debugging();
  wanted.namespaces = spec.policy->nested_user_namespaces();
  wanted.deny = spec.policy->denied_syscalls();
  return seccomp::CompileFilter(wanted);
}

std::string ConfigSum(const Json& config) {
  // FNV-1a, twice with different starts: keys are in order, so equal configurations have equal
  // text.
  const std::string text = config.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string sum;
  for (uint64_t hash : {uint64_t{0xcbf29ce484222325}, uint64_t{0x9ae16a3b2f90404f}}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    absl::StrAppend(&sum, absl::Hex(hash, absl::kZeroPad16));
  }
  return sum;
}

void LabelContainer(const Record& record, const SessionSpec& spec, Json* config) {
  const std::string sum = ConfigSum(*config);
  Json& labels = (*config)["Labels"];
  for (const auto& [key, value] : spec.labels) {
    if (!absl::StartsWith(key, "berth.")) labels[key] = value;
  }
  labels[kLabelOwner] = record.owner_id;
  labels[kLabelSession] = record.uid;
  labels[kLabelName] = record.name;
  labels[kLabelInstall] = record.install_id;
  labels[kLabelBoot] = record.boot_id;
  labels[kLabelOwnerIdentity] = IdentityToJson(record.owner);
  labels[kLabelEphemeral] = record.durable ? "false" : "true";
  labels[kLabelReuse] = spec.container.reuse ? "true" : "false";
  labels[kLabelConfig] = sum;
}

const std::string& InsideArchive() {
  static const std::string* const archive = [] {
    const auto header = [](const char* name, char type, size_t size, const char* mode) {
      std::string block(512, '\0');
      const auto put = [&block](size_t at, absl::string_view text) {
        block.replace(at, text.size(), text);
      };
      char number[16];
      put(0, name);
      put(100, mode);
      put(108, "0000000");
      put(116, "0000000");
      snprintf(number, sizeof(number), "%011zo", size);
      put(124, number);
      put(136, "00000000000");
      block[156] = type;
      put(257, absl::string_view("ustar\00000", 8));
      put(148, "        ");
      unsigned sum = 0;
      for (const char c : block) sum += static_cast<unsigned char>(c);
      snprintf(number, sizeof(number), "%06o", sum);
      put(148, absl::string_view(number, 7));
      return block;
    };
    const std::string_view image = RelayImage();
    auto* out = new std::string(header(".berth/", '5', 0, "0000755"));
    out->append(header(".berth/inside", '0', image.size(), "0000755"));
    out->append(image);
    out->append((512 - image.size() % 512) % 512 + 1024, '\0');
    return out;
  }();
  return *archive;
}

}  // namespace berth
