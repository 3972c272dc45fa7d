// Observer looks at what records name and says what is known of it: the facts that decide.h decides
// on. It only looks: nothing that it does can be noticed by a session.
//
// One for each pass of a sweep: owners are looked at once, however many sessions they have. What
// cannot change the decision is not looked at. Used by one thread; what it is given must outlive
// it.
#ifndef BERTH_REAPER_FACTS_H_
#define BERTH_REAPER_FACTS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "reaper/cgroups.h"
#include "reaper/decide.h"
#include "reaper/engine.h"
#include "reaper/options.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"

namespace berth::reaper {

// This machine, and where on it the reaper runs.
struct Surroundings {
  std::string boot_id, host_id;
  std::vector<pid_t> ancestors;  // of the reaper, and itself
  std::string cgroup;            // of the reaper
  std::string token;             // of the session that the reaper runs in, if it does

  static absl::StatusOr<Surroundings> Here();
};

struct Observed {
  Record record;
  Facts facts;
};

class Observer {
 public:
  Observer(const Store* store, const Options* options, const Surroundings* here,
           const Engines* engines);

  // `record.cgroup` is filled in if the record did not get to know it, but the group is there.
  Observed Look(Record record);

  // Groups that berth made, looked for once.
  const std::vector<FoundCgroup>& cgroups();
  // Adds owners, and keepers of what outlives its owner, that live.
  void AddLiving(std::vector<Identity>* living) const;

 private:
  struct Owner {
    LeaseState lease;
    Liveness liveness;
    Identity identity;
  };
  const Owner& OwnerOf(const Record& record);
  Presence PresenceOf(const Identity& identity) const;
  bool HoldsUs(const Record& record) const;
  bool Remains(const Record& record);

  const Store* store_;
  const Options* options_;
  const Surroundings* here_;
  const Engines* engines_;
  const absl::Time now_;
  const IdentityChecker identities_;
  std::vector<Identity> keepers_;
  absl::flat_hash_map<std::string, Owner> owners_;
  std::optional<std::vector<FoundCgroup>> cgroups_;
  std::optional<absl::flat_hash_set<std::string>> tokens_;
};

// What was seen, a line for each thing.
std::vector<std::string> EvidenceOf(const Observed& observed, absl::Time now);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_FACTS_H_
