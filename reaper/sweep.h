// A sweep: looks at everything in a state directory, decides, acts, and looks again until nothing
// changes any more, so that sessions whose owners ran in other sessions go in the same call.
//
//   ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open());
//   ABSL_ASSIGN_OR_RETURN(Report report, Sweep(*store, {.dry_run = true}));
//   std::cout << ToText(report, true, false);
//
// Any number of processes may sweep one state directory: one does, the others wait for
// Options::lock_wait. A sweep that is killed at any point is finished by the next. What fails is in
// the report and does not stop the rest. Thread-safe on different state directories.
#ifndef BERTH_REAPER_SWEEP_H_
#define BERTH_REAPER_SWEEP_H_

#include "absl/status/statusor.h"
#include "reaper/engine.h"
#include "reaper/facts.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"

namespace berth::reaper {

// Errors: Aborted if another reaper is at work; what keeps the state directory from being read.
absl::StatusOr<Report> Sweep(const Store& store, const Options& options,
                             const Engines& engines = {});

// The same with given surroundings, for tests of other boots and machines.
absl::StatusOr<Report> SweepFrom(const Surroundings& here, const Store& store,
                                 const Options& options, const Engines& engines);

// What would become of one session, by name or uid, and why. NotFound if there is none.
absl::StatusOr<Item> Explain(const Store& store, const std::string& id, const Options& options,
                             const Engines& engines = {});

}  // namespace berth::reaper

#endif  // BERTH_REAPER_SWEEP_H_
