// Scenario 29's table: owner alive/dead/unknown × running/stopped × ephemeral/reusable/to stay ×
// this host/another × this install/another, with and without a record, chosen or not.

#include "reaper/container.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "runtime/record/identity.h"

namespace berth::reaper {
namespace {

TEST(Container, IsRemovedOnlyIfEveryProofIsThere) {
  int rows = 0, reaped = 0, doubts = 0;
  for (int bits = 0; bits < 128; ++bits) {
    for (const Liveness owner : {Liveness::kAlive, Liveness::kDead, Liveness::kUnknown}) {
      const auto bit = [bits](int n) { return (bits >> n & 1) != 0; };
      const ContainerFacts facts{.chosen = bit(0),
                                 .our_install = bit(1),
                                 .has_record = bit(2),
                                 .this_host = bit(3),
                                 .running = bit(4),
                                 .ephemeral = bit(5),
                                 .reusable = bit(6),
                                 .owner = owner};
      const Verdict verdict = DecideContainer(facts).verdict;
      const bool ours_alone = bit(0) && bit(1) && !bit(2) && bit(3) && !bit(6);
      const bool may_end = bit(5) || !bit(4);
      const Verdict expected =
          ours_alone && owner == Liveness::kDead && may_end ? Verdict::kReap
          : ours_alone && (owner == Liveness::kUnknown || (owner == Liveness::kDead && !may_end))
              ? Verdict::kDoubt
              : Verdict::kKeep;
      EXPECT_EQ(verdict, expected) << absl::StrCat(bits, " owner ", LivenessName(owner));
      ++rows;
      reaped += verdict == Verdict::kReap;
      doubts += verdict == Verdict::kDoubt;
    }
  }
  EXPECT_EQ(rows, 384);
  EXPECT_EQ(reaped, 3);  // ephemeral and running, ephemeral and stopped, to stay and stopped
  EXPECT_EQ(doubts, 5);
}

}  // namespace
}  // namespace berth::reaper
