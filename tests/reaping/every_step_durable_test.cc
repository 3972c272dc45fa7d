// Scenario 30: the program that makes a durable session is SIGKILLed at each of its system calls.
// One sweep later the session is there, whole, or nothing is.

#include "gtest/gtest.h"
#include "tests/reaping/every_step.h"

namespace berth {
namespace {

TEST_F(EveryStep, OfMakingADurableSessionLeavesItWholeOrNothing) { KillAtEach(true, Dies::kMaker); }

}  // namespace
}  // namespace berth
