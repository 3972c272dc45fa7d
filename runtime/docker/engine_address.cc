#include "runtime/docker/engine_address.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
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

struct Endpoint {
  std::string host;
  std::string tls_folder;  // "" without TLS
  bool verify = true;
};

// The folders of contexts are named by a sum of their names; what counts is the name inside.
absl::StatusOr<Endpoint> FromContext(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/contexts/meta", error)) {
    const Json meta = ReadJson(entry.path().string() + "/meta.json");
    if (TextAt(meta, "Name") != name) continue;
    const Json docker = At(At(meta, "Endpoints"), "docker");
    Endpoint endpoint;
    endpoint.host = TextAt(docker, "Host");
    if (endpoint.host.empty())
      return absl::FailedPreconditionError(absl::StrCat("context '", name, "' names no engine"));
    const std::string tls =
        absl::StrCat(folder, "/contexts/tls/", entry.path().filename().string(), "/docker");
    if (std::filesystem::exists(tls, error)) endpoint.tls_folder = tls;
    endpoint.verify = At(docker, "SkipTLSVerify") != Json(true);
    return endpoint;
  }
  return absl::NotFoundError(absl::StrCat("there is no docker context '", name, "' in ", folder));
}

absl::Status Bad(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("engine address '", absl::CHexEscape(text), "': ", why));
}

// The same without what may be a password.
absl::Status BadSsh(absl::string_view text, absl::string_view why) {
  constexpr size_t kScheme = 6;
  const size_t colon = text.find(':', kScheme), at = text.rfind('@');
  if (colon == absl::string_view::npos || at == absl::string_view::npos || colon > at)
    return Bad(text, why);
  return Bad(absl::StrCat(text.substr(0, colon + 1), "***", text.substr(at)), why);
}

std::optional<std::string> Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string byte(1, text[i]);
    if (text[i] == '%') {
      if (!absl::HexStringToBytes(text.substr(i + 1, 2), &byte) || byte.size() != 1)
        return std::nullopt;
      i += 2;
    }
    out += byte;
  }
  return out;
}

bool HasControl(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

}  // namespace

absl::Status EngineAddress::TakeHost(absl::string_view rest, int default_port) {
  absl::ConsumeSuffix(&rest, "/");
  port_ = default_port;
  const size_t colon = rest.rfind(':');
  // A colon inside the brackets is an IPv6 address's own.
  if (colon != absl::string_view::npos && rest.find(']', colon) == absl::string_view::npos) {
    if (!absl::SimpleAtoi(rest.substr(colon + 1), &port_) || port_ < 1 || port_ > 65535)
      return Bad(text_, "a port is a number from 1 to 65535");
    rest = rest.substr(0, colon);
  }
  if (absl::ConsumePrefix(&rest, "[")) absl::ConsumeSuffix(&rest, "]");
  if (rest.empty()) rest = "127.0.0.1";
  for (const char c : rest) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("-._:%", c))
      return Bad(text_, "that is no host");
  }
  host_ = rest;
  return absl::OkStatus();
}

// What follows comes into ssh's arguments, where a dash makes an option, and by %r and %h of a
// user's ~/.ssh/config into lines of shell.
absl::Status EngineAddress::TakeSsh(absl::string_view rest) {
  is_ssh_ = true;
  absl::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  absl::string_view path = rest.substr(host.size());
  if (const size_t at = host.rfind('@'); at != absl::string_view::npos) {
    if (absl::StrContains(host.substr(0, at), ':'))
      return BadSsh(text_, "it has a password; use a key");
    const std::optional<std::string> user = Unescape(host.substr(0, at));
    if (!user.has_value() || user->empty() || user->front() == '-' || HasControl(*user) ||
        user->find_first_of(" '`\"$;&<>|(){}") != std::string::npos) {
      return BadSsh(text_, absl::StrCat("'", absl::CHexEscape(host.substr(0, at)),
                                        "' cannot be a user: it is empty, begins with '-', or has "
                                        "a space, a control or a shell's character"));
    }
    ssh_user_ = *user;
    host.remove_prefix(at + 1);
  }
  if (const size_t more = path.find_first_of("?#"); more != absl::string_view::npos)
    return BadSsh(text_, path[more] == '?' ? "it has a query ('?')" : "it has a fragment ('#')");
  if (!TakeHost(host, 0).ok() || host.empty() || host[0] == ':' || absl::StartsWith(host, "[]") ||
      host_[0] == '-') {
    host = host.substr(0, host.find(':', host.find(']') + 1));
    return BadSsh(text_, absl::StrCat("'", absl::CHexEscape(host),
                                      "' cannot be a host: it is empty, begins with '-', or has a "
                                      "character that no host has; or the port is no number from 1 "
                                      "to 65535"));
  }
  if (path.find_first_not_of('/') == absl::string_view::npos) return absl::OkStatus();
  const std::optional<std::string> socket = Unescape(path);
  if (!socket.has_value() || HasControl(*socket) || socket->size() > 107) {
    return BadSsh(text_,
                  "the path of a socket has 107 bytes at most, and no control characters in it");
  }
  ssh_path_ = *socket;
  return absl::OkStatus();
}

absl::StatusOr<EngineAddress> EngineAddress::Parse(absl::string_view text) {
  EngineAddress address;
  address.text_ = text;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix://")) {
    if (rest.empty() || rest[0] != '/') return Bad(text, "the path of a unix socket is absolute");
    if (rest.size() > 107) return Bad(text, "the path of a unix socket has 107 bytes at most");
    if (absl::StrContains(rest, '\0')) return Bad(text, "it has a NUL byte");
    address.host_ = rest;
    return address;
  }
  if (absl::ConsumePrefix(&rest, "tcp://") || absl::ConsumePrefix(&rest, "http://")) {
    ABSL_RETURN_IF_ERROR(address.TakeHost(rest, 2375));
    return address;
  }
  address.tls_verify_ = absl::ConsumePrefix(&rest, "tls://");
  if (address.tls_verify_ || absl::ConsumePrefix(&rest, "tls-any://")) {
    const size_t slash = rest.find('/');
    if (slash == absl::string_view::npos || slash + 1 == rest.size())
      return Bad(text, "give tls://host:port/folder, with the certificates in that folder");
    if (rest.find_first_of(absl::string_view("\n\0", 2)) != absl::string_view::npos)
      return Bad(text, "the folder has a newline or a NUL byte in it");
    address.tls_folder_ = rest.substr(slash);
    ABSL_RETURN_IF_ERROR(address.TakeHost(rest.substr(0, slash), 2376));
    return address;
  }
  if (absl::ConsumePrefix(&rest, "ssh://")) {
    ABSL_RETURN_IF_ERROR(address.TakeSsh(rest));
    return address;
  }
  for (const char* scheme : {"fd://", "npipe://"}) {
    if (absl::StartsWith(text, scheme)) {
      return absl::UnimplementedError(
          absl::StrCat("engine address '", text,
                       "': berth speaks unix://, tcp:// and ssh://; forward the engine's "
                       "socket (ssh -L) and set DOCKER_HOST to it"));
    }
  }
  if (absl::StartsWith(text, "https://"))
    return Bad(text, "give tcp://host:port, and set DOCKER_TLS_VERIFY=1");
  return Bad(text, "give unix:///path, tcp://host:port or ssh://user@host");
}

absl::StatusOr<EngineAddress> EngineAddress::WithTls(absl::string_view text,
                                                     const std::string& folder, bool verify) {
  absl::string_view host = text;
  if (!absl::ConsumePrefix(&host, "tcp://")) absl::ConsumePrefix(&host, "http://");
  EngineAddress address;
  address.text_ = text;
  ABSL_RETURN_IF_ERROR(address.TakeHost(host, 2376));
  const bool six = absl::StrContains(address.host_, ':');
  std::error_code error;
  return Parse(absl::StrCat(verify ? "tls://" : "tls-any://", six ? "[" : "", address.host_,
                            six ? "]" : "", ":", address.port_,
                            std::filesystem::absolute(folder, error).string()));
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
  Endpoint endpoint;
  if (!context.empty() && context != "default") {
    ABSL_ASSIGN_OR_RETURN(endpoint, FromContext(folder, context));
  } else {
    endpoint.host = host.empty() ? kDefault : host;
    endpoint.verify = !Variable("DOCKER_TLS_VERIFY").empty();
    if (endpoint.verify || !Variable("DOCKER_TLS").empty()) {
      endpoint.tls_folder = Variable("DOCKER_CERT_PATH");
      if (endpoint.tls_folder.empty()) endpoint.tls_folder = folder;
    }
  }
  ABSL_ASSIGN_OR_RETURN(EngineAddress address, Parse(endpoint.host));
  if (address.is_unix() || address.is_ssh() || endpoint.tls_folder.empty()) return address;
  return WithTls(endpoint.host, endpoint.tls_folder, endpoint.verify);
}

}  // namespace berth
