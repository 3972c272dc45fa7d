// Process groups that codefly left, adopted when asked: records *.pgid in ~/.codefly/runs and the
// folders in it. Only those that carry what a proof takes are acted on: identities with boot and
// start time, and a secret that is in the environment of everything in the group. Older ones, which
// name a bare group, are told and left alone; so are containers, whose labels name a bare pid.
#ifndef BERTH_REAPER_CODEFLY_H_
#define BERTH_REAPER_CODEFLY_H_

#include <string>

#include "absl/time/time.h"
#include "reaper/options.h"
#include "reaper/report.h"

namespace berth::reaper {

// `folder`: ~/.codefly/runs. Fine if there is none.
void SweepCodefly(const std::string& folder, const Options& options, absl::Time deadline,
                  Report* report);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CODEFLY_H_
