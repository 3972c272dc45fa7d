// What is left without a record that could tell of it: leases of dead owners, leases of ports,
// sockets nobody listens on, groups of dead launchers, entries that are no records, and what was
// half made or half removed. Each kind is decided by what the thing itself proves.
#ifndef BERTH_REAPER_LEFTOVERS_H_
#define BERTH_REAPER_LEFTOVERS_H_

#include <vector>

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
// Sockets of sessions that have no record, on which nobody listens.
void SweepSockets(const Scope& scope, Report* report);
// Groups of launchers, where Options::launcher_groups says, that nobody holds and whose launcher
// has ended. What is in them was to end with the launcher.
void SweepCgroups(const Scope& scope, const std::vector<FoundCgroup>& groups, Report* report);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_LEFTOVERS_H_
