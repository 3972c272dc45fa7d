// What each backend cannot do, and why. Everything that is not here works, and the suite shows it.

#include <string>

#include "tests/conformance/engine.h"

namespace berth {
namespace {

struct Missing {
  const char* backend;
  Feature feature;
  const char* why;
};

constexpr Missing kMissing[] = {
    {"tmux", Feature::kPipes, "a pane is a terminal"},
};

}  // namespace

bool Engine::Has(Feature feature) const {
  for (const Missing& missing : kMissing) {
    if (missing.backend == backend() && missing.feature == feature) return false;
  }
  return true;
}

}  // namespace berth
