#include "runtime/docker/engine_address.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxConfig = 1 << 20;

std::string Variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

absl::Status NoTls(absl::string_view who) {
  return absl::UnimplementedError(
      absl::StrCat(who,
                   " asks for TLS, which this build of berth does not have; forward the "
                   "engine's socket instead (ssh -L) and set DOCKER_HOST to it"));
}

// A file that is not there, too long or no JSON is null.
Json ReadJson(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxConfig + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxConfig) return nullptr;
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

std::string TextAt(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

Json At(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) ? json[key] : Json();
}

// The folders of contexts are named by a sum of their names; what counts is the name inside.
absl::StatusOr<EngineAddress> FromContext(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/contexts/meta", error)) {
    const Json meta = ReadJson(entry.path().string() + "/meta.json");
    if (TextAt(meta, "Name") != name) continue;
    const Json endpoint = At(At(meta, "Endpoints"), "docker");
    const std::string tls =
        absl::StrCat(folder, "/contexts/tls/", entry.path().filename().string(), "/docker");
    if (std::filesystem::exists(tls, error)) return NoTls(absl::StrCat("context '", name, "'"));
    const std::string host = TextAt(endpoint, "Host");
    if (host.empty())
      return absl::FailedPreconditionError(absl::StrCat("context '", name, "' names no engine"));
    return EngineAddress::Parse(host);
  }
  return absl::NotFoundError(absl::StrCat("there is no docker context '", name, "' in ", folder));
}

}  // namespace

absl::StatusOr<EngineAddress> EngineAddress::Parse(absl::string_view text) {
  EngineAddress address;
  address.text_ = text;
  absl::string_view rest = text;
  const auto bad = [text](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("engine address '", absl::CHexEscape(text), "': ", why));
  };
  if (absl::ConsumePrefix(&rest, "unix://")) {
    if (rest.empty() || rest[0] != '/') return bad("the path of a unix socket is absolute");
    if (rest.size() > 107) return bad("the path of a unix socket has 107 bytes at most");
    if (absl::StrContains(rest, '\0')) return bad("it has a NUL byte");
    address.host_ = rest;
    return address;
  }
  if (absl::ConsumePrefix(&rest, "tcp://") || absl::ConsumePrefix(&rest, "http://")) {
    absl::ConsumeSuffix(&rest, "/");
    address.port_ = 2375;
    const size_t colon = rest.rfind(':');
    // A colon inside the brackets is an IPv6 address's own.
    if (colon != absl::string_view::npos && rest.find(']', colon) == absl::string_view::npos) {
      if (!absl::SimpleAtoi(rest.substr(colon + 1), &address.port_) || address.port_ < 1 ||
          address.port_ > 65535) {
        return bad("a port is a number from 1 to 65535");
      }
      rest = rest.substr(0, colon);
    }
    if (absl::ConsumePrefix(&rest, "[")) absl::ConsumeSuffix(&rest, "]");
    if (rest.empty()) rest = "127.0.0.1";
    for (const char c : rest) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("-._:%", c))
        return bad("that is no host");
    }
    address.host_ = rest;
    return address;
  }
  for (const char* scheme : {"ssh://", "fd://", "npipe://"}) {
    if (absl::StartsWith(text, scheme)) {
      return absl::UnimplementedError(
          absl::StrCat("engine address '", text,
                       "': berth speaks unix:// and tcp://; forward the engine's "
                       "socket (ssh -L) and set DOCKER_HOST to it"));
    }
  }
  if (absl::StartsWith(text, "https://")) return NoTls(absl::StrCat("engine '", text, "'"));
  return bad("give unix:///path or tcp://host:port");
}

absl::StatusOr<EngineAddress> EngineAddress::Resolve() {
  std::string folder = Variable("DOCKER_CONFIG");
  if (folder.empty()) folder = Variable("HOME") + "/.docker";
  const std::string host = Variable("DOCKER_HOST");
  std::string context = Variable("DOCKER_CONTEXT");
  if (!host.empty()) {
    context = "default";
  } else if (context.empty()) {
    context = TextAt(ReadJson(folder + "/config.json"), "currentContext");
  }
  if (!context.empty() && context != "default") return FromContext(folder, context);
  ABSL_ASSIGN_OR_RETURN(EngineAddress address, Parse(host.empty() ? kDefault : host));
  if (!address.is_unix() &&
      (!Variable("DOCKER_TLS_VERIFY").empty() || !Variable("DOCKER_TLS").empty())) {
    return NoTls("DOCKER_TLS_VERIFY");
  }
  return address;
}

}  // namespace berth
