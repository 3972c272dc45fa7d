// Any bytes as the body of a request: refused, or read as something that is in order. The first
// byte chooses which.
#include <stddef.h>
#include <stdint.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/launcher/child.h"
#include "sandbox/launcher/keeper_spec.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/launcher/wire.h"

namespace {

using berth::launcher::ChildRequest;
using berth::launcher::KeeperSpec;
using berth::launcher::Message;
using berth::launcher::Reader;
using berth::launcher::SandboxPlan;

void Setup(const Message& message) {
  KeeperSpec spec;
  if (!spec.Decode(message)) return;
  if (spec.argv.empty() || spec.uid.empty() || spec.uid.find('/') != std::string::npos) abort();
  Message again;
  again.body = spec.Encode();
  KeeperSpec same;
  if (!same.Decode(again) || same.Encode() != again.body) abort();
}

void Child(Message* message) {
  const ChildRequest request(message);
  // Both lists end as execve wants them, whatever came.
  if (request.argv.empty() || request.argv.back() != nullptr) abort();
  if (request.env.empty() || request.env.back() != nullptr) abort();
}

void Plan(const Message& message) {
  SandboxPlan plan;
  if (!plan.Decode(message.body)) return;
  SandboxPlan same;
  if (!same.Decode(plan.Encode()) || same.Encode() != plan.Encode()) abort();
}

// What the keeper does with its other requests.
void Fields(const Message& message) {
  Reader in = message.reader();
  const std::string_view bytes = in.GetBytes();
  if (!bytes.empty() && bytes.data()[bytes.size()] != '\0') abort();
  in.Get<uint16_t>();
  for (const char* s : in.GetStrings(16)) {
    if (s != nullptr && std::string_view(s).size() > message.body.size()) abort();
  }
  in.GetString();
  in.Get<int64_t>();
  if (in.done() && !in.ok()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Message message;
  message.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      Setup(message);
      break;
    case 1:
      Child(&message);
      break;
    case 2:
      Plan(message);
      break;
    default:
      Fields(message);
      break;
  }
  return 0;
}
