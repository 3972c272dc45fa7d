// Scenario 30: the program that makes an ephemeral session is SIGKILLed at each of its system
// calls. One sweep later nothing is left: no process, cgroup, mount, socket or file.

#include "tests/reaping/every_step.h"

#include "gtest/gtest.h"

namespace berth {
namespace {

TEST_F(EveryStep, OfMakingAnEphemeralSessionLeavesNothing) { KillAtEach(false, Dies::kMaker); }

TEST_F(EveryStep, WithoutALauncherEitherLeavesNothing) {
  KillAtEach(false, Dies::kMakerAndLauncher);
}

}  // namespace
}  // namespace berth
