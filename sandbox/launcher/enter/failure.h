// Failure: which step of a start failed, with which errno, on which item of the plan.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_FAILURE_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_FAILURE_H_

#include <stdint.h>

#include "sandbox/launcher/protocol.h"

namespace berth::launcher {

struct Failure {
  static constexpr uint32_t kNoItem = ~uint32_t{0};

  Step step = Step::kNone;
  int error = 0;
  uint32_t item = kNoItem;  // a mount of the plan, or a Landlock rule if step is kLandlock

  bool ok() const { return step == Step::kNone; }
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_FAILURE_H_
