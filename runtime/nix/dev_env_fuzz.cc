// ParseDevEnv on any bytes: it refuses, or gives variables that an environment takes.
#include <stddef.h>
#include <stdint.h>

#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/nix/dev_env.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<berth::DevEnv> env =
      berth::ParseDevEnv(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (env.ok() && !env->ToEnv().Resolve(nullptr).ok()) abort();
  return 0;
}
