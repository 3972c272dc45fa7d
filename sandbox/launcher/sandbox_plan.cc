#include "sandbox/launcher/sandbox_plan.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::launcher {
namespace {
// More than any policy needs, and few enough that a hostile message cannot make us hold much.
constexpr uint32_t kMaxItems = 100000;
}  // namespace

std::string SandboxPlan::Encode() const {
  Writer out;
  out.Put(tier).Put(network);
  out.Put(static_cast<uint32_t>(mounts.size()));
  for (const SandboxMount& mount : mounts) {
    out.Put(mount.kind).Put(mount.read_only).Put(mount.no_exec).Put(mount.optional);
    out.Put(mount.source).Put(mount.target).Put(mount.upper).Put(mount.work).Put(mount.size);
  }
  out.Put(landlock_fs).Put(landlock_net).Put(landlock_scope);
  out.Put(static_cast<uint32_t>(landlock.size()));
  for (const LandlockRule& rule : landlock) out.Put(rule.path).Put(rule.access).Put(rule.optional);
  out.Put(filter).Put(notifies).Put(keeps_caps).Put(ready_child);
  out.Put(static_cast<uint32_t>(told_calls.size()));
  for (const int32_t call : told_calls) out.Put(call);
  out.Put(static_cast<uint32_t>(links.size()));
  for (const SandboxLink& link : links) out.Put(link.path).Put(link.text);
  out.PutList(missing).PutList(absent);
  out.Put(static_cast<uint32_t>(rlimits.size()));
  for (const SandboxRlimit& limit : rlimits) out.Put(limit.resource).Put(limit.value);
  out.Put(hostname).Put(proxy_socket).Put(proxy_port);
  out.PutList(proxy_rules).PutList(proxy_resolvers).Put(proxy_token);
  out.Put(memory_bytes).Put(swap_bytes).Put(pids).Put(cpu_millis);
  return out.body();
}

bool SandboxPlan::Decode(std::string_view bytes) {
  Reader in(bytes.data(), bytes.size());
  const auto flag = [&in] { return in.Get<uint8_t>() != 0; };
  const auto read_lists = [&in](std::initializer_list<std::vector<std::string>*> lists) {
    for (std::vector<std::string>* list : lists) {
      list->clear();
      for (const char* each : in.GetStrings(kMaxItems)) {
        if (each != nullptr) list->emplace_back(each);
      }
    }
  };
  tier = in.Get<SandboxTier>();
  network = in.Get<SandboxNetwork>();
  uint32_t count = in.Get<uint32_t>();
  if (count > kMaxItems) return false;
  for (mounts.clear(); count > 0 && in.ok(); --count) {
    SandboxMount mount;
    mount.kind = in.Get<SandboxMount::Kind>();
    mount.read_only = flag();
    mount.no_exec = flag();
    mount.optional = flag();
    mount.source = in.GetString();
    mount.target = in.GetString();
    mount.upper = in.GetString();
    mount.work = in.GetString();
    mount.size = in.Get<uint64_t>();
    mounts.push_back(std::move(mount));
  }
  landlock_fs = in.Get<uint64_t>();
  landlock_net = in.Get<uint64_t>();
  landlock_scope = in.Get<uint64_t>();
  count = in.Get<uint32_t>();
  if (count > kMaxItems) return false;
  for (landlock.clear(); count > 0 && in.ok(); --count) {
    LandlockRule rule;
    rule.path = in.GetString();
    rule.access = in.Get<uint64_t>();
    rule.optional = flag();
    landlock.push_back(std::move(rule));
  }
  filter = std::string(in.GetBytes());
  notifies = flag();
  keeps_caps = flag();
  ready_child = flag();
  count = in.Get<uint32_t>();
  if (count > kMaxItems) return false;
  for (told_calls.clear(); count > 0 && in.ok(); --count) told_calls.push_back(in.Get<int32_t>());
  count = in.Get<uint32_t>();
  if (count > kMaxItems) return false;
  for (links.clear(); count > 0 && in.ok(); --count) {
    SandboxLink link;
    link.path = in.GetString();
    link.text = in.GetString();
    links.push_back(std::move(link));
  }
  read_lists({&missing, &absent});
  count = in.Get<uint32_t>();
  if (count > kMaxItems) return false;
  for (rlimits.clear(); count > 0 && in.ok(); --count) {
    const int32_t resource = in.Get<int32_t>();
    rlimits.push_back({resource, in.Get<uint64_t>()});
  }
  hostname = in.GetString();
  proxy_socket = in.GetString();
  proxy_port = in.Get<uint16_t>();
  read_lists({&proxy_rules, &proxy_resolvers});
  proxy_token = in.GetString();
  memory_bytes = in.Get<int64_t>();
  swap_bytes = in.Get<int64_t>();
  pids = in.Get<int64_t>();
  cpu_millis = in.Get<int64_t>();
  return in.done() && tier <= SandboxTier::kLandlock && network <= SandboxNetwork::kProxy;
}

}  // namespace berth::launcher
