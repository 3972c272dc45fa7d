// FromText on any bytes: it refuses, or gives a policy that goes through its text unchanged.
#include <stddef.h>
#include <stdint.h>

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/dangerous.h"
#include "sandbox/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::Policy;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::dangerous::TrustedText trusted;
  const absl::StatusOr<Policy> policy = Policy::FromText(text, trusted);
  if (!policy.ok()) {
    if (!absl::IsInvalidArgument(policy.status())) abort();
    return 0;
  }
  const std::string written = policy->ToText();
  const absl::StatusOr<Policy> again = Policy::FromText(written, trusted);
  if (!again.ok() || again->ToText() != written || again->hash() != policy->hash()) abort();
  if (again->limits() != policy->limits() || again->paths() != policy->paths()) abort();
  return 0;
}
