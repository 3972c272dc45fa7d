// Policies as JSON. The names of the fields are the format: they stay.
#include <stddef.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "sandbox/dangerous.h"
#include "sandbox/limits.h"
#include "sandbox/policy.h"
#include "sandbox/policy_check.h"
#include "sandbox/policy_data.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxText = 8 << 20;
// Objects and commas: of each path there are five, and some may be in names.
constexpr ptrdiff_t kMaxParts = 16 * (kMaxPolicyPaths + kMaxPolicyDomains);

constexpr std::pair<Policy::Access, const char*> kAccesses[] = {
    {Policy::Access::kReadOnly, "read-only"},
    {Policy::Access::kReadWrite, "read-write"},
    {Policy::Access::kHidden, "hidden"},
    {Policy::Access::kCarve, "carve"},
    {Policy::Access::kCopyOnWrite, "copy-on-write"}};

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// As a string if JSON can hold it, which is UTF-8 only.
Json TextToJson(const std::string& text) {
  for (const char c : text) {
    if (absl::ascii_isascii(static_cast<unsigned char>(c))) continue;
    const Json back = Json::parse(Dump(Json(text), -1), nullptr, /*allow_exceptions=*/false);
    if (back.is_string() && back.get_ref<const std::string&>() == text) break;
    return Json{{"hex", absl::BytesToHexString(text)}};
  }
  return Json(text);
}

absl::Status Wrong(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("policy field ", Quoted(name), ": ", why));
}

absl::StatusOr<std::string> Text(absl::string_view name, const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.size() == 1 && json.contains("hex") && json["hex"].is_string()) {
    std::string bytes;
    if (absl::HexStringToBytes(json["hex"].get_ref<const std::string&>(), &bytes)) return bytes;
  }
  return Wrong(name, "it is not a string");
}

absl::StatusOr<std::vector<std::string>> Texts(absl::string_view name, const Json& json) {
  if (!json.is_array()) return Wrong(name, "it is not an array of strings");
  std::vector<std::string> texts;
  for (const Json& item : json) {
    ABSL_ASSIGN_OR_RETURN(texts.emplace_back(), Text(name, item));
  }
  return texts;
}

absl::StatusOr<bool> Flag(absl::string_view name, const Json& json) {
  if (!json.is_boolean()) return Wrong(name, "it is not true or false");
  return json.get<bool>();
}

// A number, or for people "512M", "2G".
absl::StatusOr<int64_t> Integer(absl::string_view name, const Json& json) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) {
    return Wrong(name, "it is too large");
  }
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_string()) {
    absl::string_view text = json.get_ref<const std::string&>();
    int shift = 0;
    for (const auto& [unit, bits] : {std::pair('K', 10), {'M', 20}, {'G', 30}, {'T', 40}}) {
      if (text.empty() || text.back() != unit) continue;
      text.remove_suffix(1);
      shift = bits;
      break;
    }
    int64_t number;
    if (absl::SimpleAtoi(text, &number) && number >= 0 && number <= (INT64_MAX >> shift)) {
      return number << shift;
    }
  }
  return Wrong(name, "it is not an integer, nor one with K, M, G or T");
}

// One value inside another is 64 deep at most, no key is there twice: what a reader sees is what is
// parsed.
absl::StatusOr<Json> ParseJson(absl::string_view text) {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(
        absl::StrCat("policy: its ", text.size(), " bytes are more than ", kMaxText));
  }
  // Before it is parsed: the library looks through an array again at the end of each object in it.
  if (absl::c_count(text, '{') + absl::c_count(text, ',') > kMaxParts) {
    return absl::InvalidArgumentError("policy: it lists more than a policy can have");
  }
  std::vector<absl::flat_hash_set<std::string>> keys;
  absl::Status status;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (depth > 64 && status.ok()) {
      status = absl::InvalidArgumentError("policy: it is nested too deeply");
    }
    if (event == Json::parse_event_t::key && status.ok() &&
        !keys.back().insert(value.get<std::string>()).second) {
      status = Wrong(value.get_ref<const std::string&>(), "it is there twice");
    }
    return status.ok();
  };
  Json json = Json::parse(text.begin(), text.end(), check, /*allow_exceptions=*/false);
  ABSL_RETURN_IF_ERROR(status);
  if (json.is_discarded()) return absl::InvalidArgumentError("policy: it is not JSON, or torn");
  if (!json.is_object()) return absl::InvalidArgumentError("policy: it is not a JSON object");
  return json;
}

absl::StatusOr<Policy::Path> ToPath(const Json& json) {
  Policy::Path path;
  if (!json.is_object()) return Wrong("paths", "it is not an array of objects");
  if (!json.contains("path")) return Wrong("paths", "an entry has no 'path'");
  bool has_access = false;
  for (const auto& [name, value] : json.items()) {
    if (name == "path") {
      ABSL_ASSIGN_OR_RETURN(path.path, Text(name, value));
    } else if (name == "inside") {
      ABSL_ASSIGN_OR_RETURN(path.inside, Text(name, value));
      if (path.inside.empty()) return Wrong(name, "it is empty");
    } else if (name == "optional") {
      ABSL_ASSIGN_OR_RETURN(path.optional, Flag(name, value));
    } else if (name == "access") {
      ABSL_ASSIGN_OR_RETURN(const std::string word, Text(name, value));
      for (const auto& [access, known] : kAccesses) {
        if (word != known) continue;
        path.access = access;
        has_access = true;
      }
      if (!has_access) {
        return Wrong(name, absl::StrCat(Quoted(word),
                                        " is none of read-only, read-write, hidden, "
                                        "carve, copy-on-write"));
      }
    } else {
      return Wrong(absl::StrCat("paths.", name), "it is not known");
    }
  }
  // Never a guess about what may be written.
  if (!has_access) return Wrong("paths", absl::StrCat(Quoted(path.path), " has no 'access'"));
  return path;
}

absl::Status ReadLimits(const Json& json, Policy::Builder* builder) {
  if (!json.is_object()) return Wrong("limits", "it is not an object");
  using Setter = Policy::Builder& (Policy::Builder::*)(int64_t);
  constexpr std::pair<absl::string_view, Setter> kNumbers[] = {
      {"memory", &Policy::Builder::Memory},
      {"swap", &Policy::Builder::Swap},
      {"pids", &Policy::Builder::Pids},
      {"file_size", &Policy::Builder::FileSize},
      {"open_files", &Policy::Builder::OpenFiles},
      {"tmp_size", &Policy::Builder::TmpSize}};
  for (const auto& [name, value] : json.items()) {
    bool known = false;
    for (const auto& [number, setter] : kNumbers) {
      if (name != number) continue;
      ABSL_ASSIGN_OR_RETURN(const int64_t count, Integer(name, value));
      (builder->*setter)(count);
      known = true;
    }
    if (known) continue;
    if (name == "cpus") {
      if (!value.is_number()) return Wrong(name, "it is not a number");
      builder->Cpus(value.get<double>());
    } else if (name == "wall") {
      ABSL_ASSIGN_OR_RETURN(const std::string text, Text(name, value));
      absl::Duration wall;
      if (!absl::ParseDuration(text, &wall) || wall == absl::InfiniteDuration()) {
        return Wrong(name, absl::StrCat(Quoted(text), " is no duration; write 90s or 1h30m"));
      }
      builder->Wall(wall);
    } else {
      return Wrong(absl::StrCat("limits.", name), "it is not known");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadNetwork(const Json& json, Policy::Builder* builder) {
  if (json.is_string() && json == "none") {
    builder->NoNetwork();
  } else if (json.is_string() && json == "host") {
    builder->Relax(dangerous::HostNetwork());
  } else if (json.is_object() && json.size() == 1 && json.contains("allow")) {
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> domains, Texts("allow", json["allow"]));
    builder->AllowDomains(std::move(domains));
  } else {
    return Wrong("network", "it is none of \"none\", \"host\", {\"allow\": [\"example.com\"]}");
  }
  return absl::OkStatus();
}

absl::Status ReadDangerous(const Json& json, Policy::Builder* builder) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> words, Texts("dangerous", json));
  for (const std::string& word : words) {
    if (word == "host_pid_namespace") {
      builder->Relax(dangerous::HostPidNamespace());
    } else if (word == "inherited_environment") {
      builder->Relax(dangerous::InheritedEnvironment());
    } else if (word == "docker_socket") {
      builder->Relax(dangerous::RawDockerSocket());
    } else if (word == "seccomp_off") {
      builder->Relax(dangerous::SeccompOff());
    } else if (word == "nested_user_namespaces") {
      builder->Relax(dangerous::NestedUserNamespaces());
    } else {
      return Wrong("dangerous", absl::StrCat(Quoted(word), " is not known"));
    }
  }
  return absl::OkStatus();
}

// A field that is set once, by its name.
absl::Status ReadField(const std::string& name, const Json& value, Policy::Builder* builder) {
  if (name == "version") {
    if (!value.is_number_integer() || value != 1) return Wrong(name, "this berth knows version 1");
  } else if (name == "system" || name == "private_home" || name == "debugging" ||
             name == "report_files") {
    ABSL_ASSIGN_OR_RETURN(const bool on, Flag(name, value));
    if (on && name == "system") builder->System();
    if (on && name == "private_home") builder->PrivateHome();
    if (on && name == "debugging") builder->Debugging();
    if (on && name == "report_files") builder->ReportFiles();
  } else if (name == "tier") {
    ABSL_ASSIGN_OR_RETURN(const std::string word, Text(name, value));
    ABSL_ASSIGN_OR_RETURN(const Tier tier, TierFromName(word));
    builder->Tier(tier);
  } else if (name == "hostname") {
    ABSL_ASSIGN_OR_RETURN(const std::string hostname, Text(name, value));
    builder->Hostname(hostname);
  } else if (name == "paths") {
    if (!value.is_array()) return Wrong(name, "it is not an array");
    for (const Json& item : value) {
      ABSL_ASSIGN_OR_RETURN(Policy::Path path, ToPath(item));
      builder->Add(std::move(path));
    }
  } else if (name == "tmpfs") {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> places, Texts(name, value));
    for (const std::string& place : places) builder->Tmpfs(place);
  } else if (name == "socket_families") {
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> families, Texts(name, value));
    builder->SocketFamilies(std::move(families));
  } else if (name == "deny_syscalls") {
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> names, Texts(name, value));
    builder->DenySyscalls(std::move(names));
  } else if (name == "network") {
    return ReadNetwork(value, builder);
  } else if (name == "limits") {
    return ReadLimits(value, builder);
  } else if (name == "dangerous") {
    return ReadDangerous(value, builder);
  } else {
    return Wrong(name, "it is not known");
  }
  return absl::OkStatus();
}

Json LimitsToJson(const Limits& limits) {
  Json json = Json::object();
  for (const auto& [name, value] : {std::pair("memory", limits.memory_bytes),
                                    {"swap", limits.swap_bytes},
                                    {"pids", limits.pids},
                                    {"file_size", limits.file_bytes},
                                    {"open_files", limits.open_files},
                                    {"tmp_size", limits.tmp_bytes}}) {
    if (value >= 0) json[name] = value;
  }
  if (limits.cpus >= 0) json["cpus"] = limits.cpus;
  if (limits.wall != absl::InfiniteDuration()) json["wall"] = absl::FormatDuration(limits.wall);
  return json;
}

}  // namespace

std::string Policy::ToText() const {
  Json json = Json::object();
  json["version"] = 1;
  json["tier"] = TierName(tier());
  for (const auto& [name, on] : {std::pair("system", system()),
                                 {"private_home", private_home()},
                                 {"debugging", debugging()},
                                 {"report_files", report_files()}}) {
    if (on) json[name] = true;
  }
  for (const Path& path : paths()) {
    Json entry = {{"path", TextToJson(path.path)}};
    for (const auto& [access, word] : kAccesses) {
      if (path.access == access) entry["access"] = word;
    }
    if (!path.inside.empty()) entry["inside"] = TextToJson(path.inside);
    if (path.optional) entry["optional"] = true;
    json["paths"].push_back(std::move(entry));
  }
  for (const std::string& place : tmpfs()) json["tmpfs"].push_back(TextToJson(place));
  switch (network()) {
    case Network::kNone:
      json["network"] = "none";
      break;
    case Network::kHost:
      json["network"] = "host";
      break;
    case Network::kAllowList:
      json["network"] = Json{{"allow", domains()}};
      break;
  }
  json["socket_families"] = socket_families();
  if (!denied_syscalls().empty()) json["deny_syscalls"] = denied_syscalls();
  if (!hostname().empty()) json["hostname"] = hostname();
  if (Json limits_json = LimitsToJson(limits()); !limits_json.empty()) {
    json["limits"] = std::move(limits_json);
  }
  for (const auto& [name, on] : {std::pair("host_pid_namespace", host_pid_namespace()),
                                 {"inherited_environment", inherited_environment()},
                                 {"docker_socket", docker_socket()},
                                 {"seccomp_off", seccomp_off()},
                                 {"nested_user_namespaces", nested_user_namespaces()}}) {
    if (on) json["dangerous"].push_back(name);
  }
  return Dump(json, 2) + "\n";
}

absl::StatusOr<Policy> Policy::Parse(absl::string_view text, bool trusted) {
  ABSL_ASSIGN_OR_RETURN(Json json, ParseJson(text));
  Builder builder;
  // For people: begins as that preset, and what else is said comes on top.
  if (const auto preset = json.find("preset"); preset != json.end()) {
    ABSL_ASSIGN_OR_RETURN(const std::string name, Text("preset", *preset));
    std::string workspace;
    if (const auto place = json.find("workspace"); place != json.end()) {
      ABSL_ASSIGN_OR_RETURN(workspace, Text("workspace", *place));
      json.erase(place);
    }
    json.erase("preset");
    ABSL_ASSIGN_OR_RETURN(builder, Preset(name, workspace));
  }
  for (const auto& [name, value] : json.items()) {
    ABSL_RETURN_IF_ERROR(ReadField(name, value, &builder));
  }
  ABSL_ASSIGN_OR_RETURN(Policy policy, builder.Build());
  if (trusted) return policy;
  absl::string_view asks;
  if (policy.network() == Network::kHost) asks = "the host's network";
  if (policy.host_pid_namespace()) asks = "the host's pid namespace";
  if (policy.inherited_environment()) asks = "the caller's environment";
  if (policy.docker_socket()) asks = "the Docker engine's socket";
  if (policy.seccomp_off()) asks = "no seccomp filter";
  if (policy.nested_user_namespaces()) asks = "nested user namespaces";
  if (asks.empty()) return policy;
  return absl::PermissionDeniedError(
      absl::StrCat("policy: it asks for ", asks, ", which takes dangerous::TrustedText"));
}

absl::StatusOr<Policy> Policy::FromText(absl::string_view text) { return Parse(text, false); }

absl::StatusOr<Policy> Policy::FromText(absl::string_view text, const dangerous::TrustedText&) {
  return Parse(text, true);
}

}  // namespace berth
