// What is left without a record that could tell of it: leases of dead owners, leases of ports,
// sockets nobody listens on, groups of dead launchers, entries that are no records, and what was
// half made or half removed. Each kind is decided by what the thing itself proves.
#ifndef BERTH_REAPER_LEFTOVERS_H_
#define BERTH_REAPER_LEFTOVERS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "reaper/cgroups.h"
#include "reaper/facts.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"

namespace berth::reaper {

// What every function here is given.
struct Scope {
  const Store& store;
  const Options& options;
  const Surroundings& here;
  absl::Time deadline;  // of the whole sweep
};

// Entries of sessions/ that are no records: moved to quarantine with their bytes. Not those that a
// newer berth wrote; a folder whose record is gone is one that somebody was removing, and is
// removed.
void SweepBroken(const Scope& scope, const std::vector<BrokenRecord>& broken, Report* report);
// Leases that nobody holds and whose owner has ended.
void SweepLeases(const Scope& scope, Report* report);
// Leases of ports that nobody holds.
void SweepPorts(const Scope& scope, Report* report);
// Sockets of sessions that have no record, on which nobody listens. Those of `known` sessions have
// one.
void SweepSockets(const Scope& scope, const absl::flat_hash_set<std::string>& known,
                  Report* report);
// Groups of this installation's launchers that nobody holds and whose launcher has ended. What is
// in them was to end with the launcher. Whether something was ended: it may have been an owner.
// What is in `told` is left out, and what could not be done is added to it. Launchers that live are
// added to Report::living.
bool SweepCgroups(const Scope& scope, const std::vector<FoundCgroup>& groups,
                  absl::flat_hash_set<std::string>* told, Report* report);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_LEFTOVERS_H_
