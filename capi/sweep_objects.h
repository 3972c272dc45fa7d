// The objects behind sweeps.
#ifndef BERTH_CAPI_SWEEP_OBJECTS_H_
#define BERTH_CAPI_SWEEP_OBJECTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/berth.h"
#include "capi/handles.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "reaper/watch.h"

namespace berth::capi {

struct SweepOptionsObject {
  static constexpr Kind kKind = Kind::kSweepOptions;
  reaper::Options options;
  reaper::WatchOptions watch;
  absl::Status error;
};

// Those of the setters, or the first error of theirs. NULL: the defaults.
absl::StatusOr<SweepOptionsObject> GetSweepOptions(const berth_sweep_options* options);
absl::Status PutReport(reaper::Report report, berth_sweep_report** out);

}  // namespace berth::capi

#endif  // BERTH_CAPI_SWEEP_OBJECTS_H_
