#include "reaper/container.h"

#include "reaper/decide.h"
#include "runtime/record/identity.h"

namespace berth::reaper {

Decision DecideContainer(const ContainerFacts& facts) {
  if (!facts.chosen) return {Verdict::kKeep, {"the options do not choose it"}};
  if (!facts.our_install) return {Verdict::kKeep, {"another installation made it"}};
  if (!facts.this_host) return {Verdict::kKeep, {"another machine may have made it"}};
  if (facts.has_record) return {Verdict::kKeep, {"it has a record, which decides"}};
  if (facts.reusable) return {Verdict::kKeep, {"it is kept for the next session of its name"}};
  switch (facts.owner) {
    case Liveness::kAlive:
      return {Verdict::kKeep, {"its owner lives"}};
    case Liveness::kUnknown:
      return {Verdict::kDoubt, {"whether its owner lives is not known"}};
    case Liveness::kDead:
      break;
  }
  // Somebody may use it by another way than ours: to end what runs takes a record, or the word that
  // it was to end with its owner.
  if (!facts.ephemeral && facts.running) {
    return {Verdict::kDoubt,
            {"its owner is gone and it has no record, but it was to stay and runs"}};
  }
  return {Verdict::kReap, {"its owner is gone and it has no record"}};
}

}  // namespace berth::reaper
