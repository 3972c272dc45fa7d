#include "sandbox/network/http_request.h"

#include <string>
#include <string_view>

namespace berth::network {
namespace {

std::string Lower(std::string_view text) {
  std::string out;
  for (const char c : text) out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  return out;
}

bool IsToken(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos)
      return false;
  }
  return true;
}

// Printable, or tab, or beyond ASCII; no control characters, which some readers take for line ends.
bool IsText(std::string_view text) {
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 32 && u != '\t') || u == 127) return false;
  }
  return true;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool ReadLength(std::string_view text, uint64_t* length) {
  if (text.empty() || text.size() > 15) return false;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  *length = value;
  return true;
}

// "http://host:port/path": host and port, and the path with the query.
bool ReadUrl(std::string_view url, HttpRequest* request, std::string* path) {
  constexpr std::string_view kScheme = "http://";
  if (Lower(url.substr(0, kScheme.size())) != kScheme) return false;
  url.remove_prefix(kScheme.size());
  const size_t end = url.find_first_of("/?#");
  const std::string_view authority = url.substr(0, end);
  request->target = authority;
  std::string_view rest = end == std::string_view::npos ? "" : url.substr(end);
  rest = rest.substr(0, rest.find('#'));
  *path = (rest.empty() || rest[0] != '/' ? "/" : "") + std::string(rest);
  if (authority.find('@') != std::string_view::npos) return false;
  return ParseHostPort(authority, 80, &request->host, &request->port);
}

struct Headers {
  bool lengths = false;
  std::string kept;
};

// One "Name: value" line. False if it may not be there.
bool TakeHeader(std::string_view line, HttpRequest* request, Headers* headers) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return false;
  const std::string name = Lower(line.substr(0, colon));
  const std::string_view value = Trim(line.substr(colon + 1));
  if (!IsText(value)) return false;
  if (name == "proxy-authorization") {
    constexpr std::string_view kBasic = "basic ";
    if (!request->credentials.empty()) return false;
    if (Lower(value.substr(0, kBasic.size())) == kBasic)
      request->credentials = Trim(value.substr(kBasic.size()));
    return true;
  }
  if (request->connect) return true;  // the rest of its headers is for us, and says nothing
  if (name == "transfer-encoding" || name == "upgrade" || name == "te" || name == "trailer")
    return false;
  if (name == "content-length") {
    if (headers->lengths || !ReadLength(value, &request->body_bytes)) return false;
    headers->lengths = true;
  }
  if (name == "host" || name == "connection" || name == "keep-alive" || name.starts_with("proxy-"))
    return true;
  headers->kept += std::string(line) + "\r\n";
  return true;
}

bool ReadRequestLine(std::string_view line, HttpRequest* request, std::string* start) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsToken(method) || target.empty() || target.find(' ') != std::string_view::npos)
    return false;
  // Beyond ASCII it may be: such a host is denied as what it is, with an event.
  if (!IsText(target)) return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request->connect = method == "CONNECT";
  if (request->connect) {
    request->target = target;
    if (!ParseHostPort(target, 0, &request->host, &request->port)) request->host = Host();
    return true;
  }
  std::string path;
  if (!ReadUrl(target, request, &path)) {
    // A URL whose host is none is denied by name; what is no URL is no request to a proxy.
    if (request->target.empty()) return false;
    request->host = Host();
  }
  *start = std::string(method) + " " + path + " HTTP/1.1\r\n";
  return true;
}

}  // namespace

HttpRequest ReadHttpRequest(std::string_view bytes) {
  using State = HttpRequest::State;
  HttpRequest request;
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos || end + 4 > kMaxHttpHead) {
    if (bytes.size() >= kMaxHttpHead) request.state = State::kMalformed;
    return request;
  }
  request.state = State::kMalformed;
  request.head_bytes = end + 4;
  std::string_view rest = bytes.substr(0, end + 2);
  const auto line = [&rest] {
    const size_t at = rest.find("\r\n");
    const std::string_view piece = rest.substr(0, at);
    rest.remove_prefix(at + 2);
    return piece;
  };
  std::string start;
  Headers headers;
  if (!ReadRequestLine(line(), &request, &start)) return request;
  while (!rest.empty()) {
    if (!TakeHeader(line(), &request, &headers)) return request;
  }
  if (!request.connect && request.host.kind != Host::Kind::kInvalid) {
    const std::string host = request.host.ToString();
    const std::string port = request.port == 80 ? "" : ":" + std::to_string(request.port);
    request.forward =
        start + "Host: " + host + port + "\r\nConnection: close\r\n" + headers.kept + "\r\n";
  }
  request.state = State::kComplete;
  return request;
}

std::string BasicCredentials(std::string_view user, std::string_view password) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string text = std::string(user) + ":" + std::string(password);
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < text.size() ? static_cast<uint8_t>(text[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      out.push_back(i + j <= text.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=');
    }
  }
  return out;
}

}  // namespace berth::network
