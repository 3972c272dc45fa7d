#include "sandbox/network/proxy_config.h"

#include <string>
#include <vector>

namespace berth::network {
namespace {
constexpr size_t kMaxStrings = 65536;
}

std::string ProxyConfig::Encode() const {
  launcher::Writer out;
  out.PutList(rules).Put(token).PutList(resolvers).Put(max_connections);
  return out.body();
}

bool ProxyConfig::Decode(const launcher::Message& message) {
  launcher::Reader in = message.reader();
  const auto list = [&in](std::vector<std::string>* out) {
    out->clear();
    for (const char* each : in.GetStrings(kMaxStrings)) {
      if (each != nullptr) out->emplace_back(each);
    }
  };
  list(&rules);
  token = in.GetString();
  list(&resolvers);
  max_connections = in.Get<uint32_t>();
  return in.done() && !token.empty() && max_connections > 0 && max_connections <= 4096;
}

}  // namespace berth::network
