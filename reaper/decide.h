// The decision: what is to become of a session, from facts alone. A pure function, so that every
// row of its table can be tested (decide_test.cc does) and read (docs/reaper.md has it).
//
// What is not known is never acted on. A session that is durable outlives its owner by design: only
// one that has ended can be cleared of what it left running, and its record, exit status and log
// stay until someone removes them or the operator says after how long they may be forgotten.
//
// Plain values; thread-safe.
#ifndef BERTH_REAPER_DECIDE_H_
#define BERTH_REAPER_DECIDE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"

namespace berth::reaper {

// Where the record was made.
enum class Place : uint8_t { kThisBoot, kEarlierBoot, kOtherHost, kUnknown };

// What is known of something that a record names. kNone: it names none. What was not looked at is
// kUnknown.
enum class Presence : uint8_t { kNone, kAlive, kDead, kUnknown };

struct Facts {
  bool chosen = true;       // by the filters and by its age
  bool our_install = true;  // the record carries the id of the state directory it lies in
  bool holds_us = false;    // the reaper itself runs in that session, or the record says so
  Place place = Place::kThisBoot;
  LeaseState lease = LeaseState::kHeld;
  Liveness owner = Liveness::kAlive;  // by identity alone
  bool durable = false;
  bool started = true;  // the start gate was opened
  Presence keeper = Presence::kNone;
  Presence main = Presence::kNone;    // main process, or first of its pid namespace
  Presence engine = Presence::kNone;  // container or tmux session; kUnknown: no answer
  bool remains = false;      // something is left besides the record: cgroup, socket, process
  bool forgettable = false;  // ended sessions of that age are to be forgotten
};

enum class Verdict : uint8_t {
  kKeep,
  kReap,   // end it and remove everything, the record last
  kClear,  // end and remove what is left, but for the record
  kDoubt,  // touch nothing, tell the operator
};

struct Decision {
  Verdict verdict = Verdict::kKeep;
  // Why, in the order in which it was concluded; the last line is the one that decided. Constants.
  std::vector<absl::string_view> because;
};

Decision Decide(const Facts& facts);

// kDead only if the lease is free or missing and the identity is dead; kAlive only if it is held
// and the identity alive; otherwise the two disagree, or one is not known: kUnknown.
Liveness OwnerOf(const Facts& facts);

// "keep", "reap", "clear", "doubt".
absl::string_view VerdictName(Verdict verdict);
absl::string_view PresenceName(Presence presence);
absl::string_view PlaceName(Place place);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_DECIDE_H_
