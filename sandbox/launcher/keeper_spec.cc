#include "sandbox/launcher/keeper_spec.h"

#include <string>
#include <vector>

namespace berth::launcher {
namespace {

std::vector<std::string> Copy(const std::vector<const char*>& strings) {
  std::vector<std::string> out;
  for (const char* s : strings) {
    if (s != nullptr) out.emplace_back(s);
  }
  return out;
}

}  // namespace

std::string KeeperSpec::Encode() const {
  Writer out;
  out.Put(uid).Put(name).Put(durable).Put(has_engine).Put(pty).Put(rows).Put(cols);
  out.Put(wall_ms).Put(inactivity_ms).Put(grace_ms).Put(scrollback_lines).Put(keep_bytes);
  out.Put(log_path).Put(log_cap).Put(cwd).PutList(argv).PutList(env).Put(plan);
  return out.body();
}

bool KeeperSpec::Decode(const Message& message) {
  constexpr size_t kMaxStrings = 1 << 20;
  Reader in = message.reader();
  uid = in.GetString();
  name = in.GetString();
  durable = in.Get<uint8_t>() != 0;
  has_engine = in.Get<uint8_t>() != 0;
  pty = in.Get<uint8_t>() != 0;
  rows = in.Get<uint16_t>();
  cols = in.Get<uint16_t>();
  wall_ms = in.Get<int64_t>();
  inactivity_ms = in.Get<int64_t>();
  grace_ms = in.Get<uint32_t>();
  scrollback_lines = in.Get<int32_t>();
  keep_bytes = in.Get<int64_t>();
  log_path = in.GetString();
  log_cap = in.Get<int64_t>();
  cwd = in.GetString();
  argv = Copy(in.GetStrings(kMaxStrings));
  env = Copy(in.GetStrings(kMaxStrings));
  plan = std::string(in.GetBytes());
  const bool sane = rows > 0 && cols > 0 && rows <= 4096 && cols <= 4096 && scrollback_lines >= 0 &&
                    keep_bytes >= 0 && keep_bytes <= (int64_t{1} << 30);
  return in.done() && sane && !uid.empty() && uid.find('/') == std::string::npos && !argv.empty();
}

}  // namespace berth::launcher
