#include "reaper/decide.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"

namespace berth::reaper {
namespace {

Decision Because(Decision so_far, Verdict verdict, absl::string_view why) {
  so_far.verdict = verdict;
  so_far.because.push_back(why);
  return so_far;
}

// Of a session that ends with its owner, or that never began.
Decision DecideMortal(const Facts& facts, Decision so_far) {
  so_far.because.push_back(facts.started ? "it is to end with its owner" : "it never started");
  switch (OwnerOf(facts)) {
    case Liveness::kAlive:
      return Because(std::move(so_far), Verdict::kKeep, "its owner lives");
    case Liveness::kUnknown:
      return Because(std::move(so_far), Verdict::kDoubt,
                     "lease and identity of its owner do not agree, or one is not known");
    case Liveness::kDead:
      break;
  }
  so_far.because.push_back("its owner is gone: nobody holds the lease, and the process has ended");
  if (facts.engine == Presence::kUnknown) {
    return Because(std::move(so_far), Verdict::kKeep,
                   "the engine that has it does not answer: for a later sweep");
  }
  if (facts.keeper == Presence::kUnknown || facts.main == Presence::kUnknown) {
    return Because(std::move(so_far), Verdict::kDoubt,
                   "whether its processes run cannot be seen from here");
  }
  return Because(std::move(so_far), Verdict::kReap, "nobody needs it");
}

Decision DecideDurable(const Facts& facts, Decision so_far) {
  so_far.because.push_back("it is to outlive its owner");
  if (facts.keeper == Presence::kDead && facts.main == Presence::kAlive) {
    return Because(std::move(so_far), Verdict::kDoubt,
                   "it has lost its keeper, but its main process runs: 'berth rm' ends it");
  }
  const Presence parts[] = {facts.keeper, facts.main, facts.engine};
  bool dead = false;
  for (const Presence part : parts) {
    if (part == Presence::kAlive) return Because(std::move(so_far), Verdict::kKeep, "it is alive");
  }
  for (const Presence part : parts) {
    if (part == Presence::kUnknown)
      return Because(std::move(so_far), Verdict::kKeep, "whether it is alive is not known");
    dead = dead || part == Presence::kDead;
  }
  if (!dead)
    return Because(std::move(so_far), Verdict::kKeep, "its record names nothing that could end");
  so_far.because.push_back("it has ended");
  if (facts.forgettable)
    return Because(std::move(so_far), Verdict::kReap, "it ended long enough ago to be forgotten");
  if (facts.remains)
    return Because(std::move(so_far), Verdict::kClear, "something that it started is left");
  return Because(std::move(so_far), Verdict::kKeep,
                 "its record, exit status and log stay until someone removes them");
}

}  // namespace

Liveness OwnerOf(const Facts& facts) {
  if (facts.lease == LeaseState::kHeld && facts.owner == Liveness::kAlive) return Liveness::kAlive;
  const bool let_go = facts.lease == LeaseState::kFree || facts.lease == LeaseState::kMissing;
  return let_go && facts.owner == Liveness::kDead ? Liveness::kDead : Liveness::kUnknown;
}

Decision Decide(const Facts& facts) {
  if (!facts.chosen) return Because({}, Verdict::kKeep, "the options do not choose it");
  if (!facts.our_install) return Because({}, Verdict::kKeep, "another installation made it");
  switch (facts.place) {
    case Place::kOtherHost:
      return Because({}, Verdict::kKeep, "another machine made it");
    case Place::kUnknown:
      return Because({}, Verdict::kDoubt,
                     "another boot made it, of this machine or of another: neither has an id");
    case Place::kThisBoot:
    case Place::kEarlierBoot:
      break;
  }
  if (facts.holds_us) return Because({}, Verdict::kDoubt, "the reaper itself runs in it");
  Decision so_far;
  if (facts.place == Place::kEarlierBoot) so_far.because.push_back("it is of an earlier boot");
  return facts.durable && facts.started ? DecideDurable(facts, std::move(so_far))
                                        : DecideMortal(facts, std::move(so_far));
}

absl::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kKeep:
      return "keep";
    case Verdict::kReap:
      return "reap";
    case Verdict::kClear:
      return "clear";
    case Verdict::kDoubt:
      break;
  }
  return "doubt";
}

absl::string_view PresenceName(Presence presence) {
  switch (presence) {
    case Presence::kNone:
      return "none";
    case Presence::kAlive:
      return "alive";
    case Presence::kDead:
      return "dead";
    case Presence::kUnknown:
      break;
  }
  return "unknown";
}

absl::string_view PlaceName(Place place) {
  switch (place) {
    case Place::kThisBoot:
      return "this boot";
    case Place::kEarlierBoot:
      return "an earlier boot";
    case Place::kOtherHost:
      return "another machine";
    case Place::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace berth::reaper
