#include "sandbox/network/allow_list.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace berth::network {
namespace {

constexpr uint16_t kHttps = 443;

bool IsBelow(const std::string& name, const std::string& parent) {
  return name.size() > parent.size() + 1 && name[name.size() - parent.size() - 1] == '.' &&
         name.compare(name.size() - parent.size(), parent.size(), parent) == 0;
}

}  // namespace

bool AllowList::Add(std::string_view text) {
  Rule rule;
  rule.below = text.substr(0, 2) == "*.";
  if (rule.below) text.remove_prefix(2);
  if (!ParseHostPort(text, kHttps, &rule.host, &rule.port)) return false;
  // "*.com" is nobody's intention.
  if (rule.below &&
      (rule.host.kind != Host::Kind::kName || rule.host.name.find('.') == std::string::npos)) {
    return false;
  }
  rules_.push_back(std::move(rule));
  return true;
}

bool AllowList::Allows(const Host& host, uint16_t port) const {
  if (host.kind == Host::Kind::kInvalid) return false;
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (rule.port != port) return false;
    if (!rule.below) return rule.host == host;
    return host.kind == Host::Kind::kName && IsBelow(host.name, rule.host.name);
  });
}

bool AllowList::AllowsTarget(const Address& address, uint16_t port) const {
  if (IsPublic(address)) return true;
  Host host;
  host.kind = Host::Kind::kAddress;
  host.address = address;
  return Allows(host, port);
}

}  // namespace berth::network
