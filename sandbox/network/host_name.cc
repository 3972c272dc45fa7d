#include "sandbox/network/host_name.h"

#include <string>
#include <string_view>

namespace berth::network {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What inet_aton takes for a part of an address: decimal, octal or hexadecimal.
bool IsNumber(std::string_view label) {
  if (label.size() >= 2 && label[0] == '0' && label[1] == 'x') {
    return label.substr(2).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  }
  return label.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsLabel(std::string_view label) {
  if (label.empty() || label.size() > 63) return false;
  for (const char c : label) {
    if (!(c >= 'a' && c <= 'z') && !IsDigit(c) && c != '-' && c != '_') return false;
  }
  return label.front() != '-' && label.back() != '-';
}

bool NormalizeName(std::string_view text, std::string* name) {
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  if (text.empty() || text.size() > 253) return false;
  std::string lower;
  for (const char c : text) lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  std::string_view rest = lower;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (!IsLabel(label)) return false;
    if (dot == std::string_view::npos) {
      if (IsNumber(label)) return false;
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  *name = std::move(lower);
  return true;
}

bool ParsePort(std::string_view text, uint16_t* port) {
  uint32_t value = 0;
  if (text.empty() || text.size() > 5) return false;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  if (value == 0 || value > 65535) return false;
  *port = static_cast<uint16_t>(value);
  return true;
}

}  // namespace

std::string Host::ToString() const {
  if (kind == Kind::kName) return name;
  if (kind == Kind::kInvalid) return "?";
  const std::string text = network::ToString(address);
  return address.v6 ? "[" + text + "]" : text;
}

Host ParseHost(std::string_view text) {
  Host host;
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    if (ParseAddress(text.substr(1, text.size() - 2), &host.address) && host.address.v6) {
      host.kind = Host::Kind::kAddress;
    }
  } else if (ParseAddress(text, &host.address)) {
    host.kind = Host::Kind::kAddress;
  } else if (NormalizeName(text, &host.name)) {
    host.kind = Host::Kind::kName;
  }
  return host;
}

bool ParseHostPort(std::string_view text, uint16_t default_port, Host* host, uint16_t* port) {
  // The last colon, unless it is inside of brackets.
  size_t colon = text.rfind(':');
  const size_t bracket = text.rfind(']');
  if (colon != std::string_view::npos && bracket != std::string_view::npos && colon < bracket) {
    colon = std::string_view::npos;
  }
  if (colon == std::string_view::npos) {
    if (default_port == 0) return false;
    *port = default_port;
  } else if (!ParsePort(text.substr(colon + 1), port)) {
    return false;
  }
  const std::string_view name = text.substr(0, colon);
  // An IPv6 address with a port has brackets: without them nobody knows which colon is meant.
  if (name.find(':') != std::string_view::npos && name.front() != '[') return false;
  *host = ParseHost(name);
  return host->kind != Host::Kind::kInvalid;
}

}  // namespace berth::network
