// berth-reaper sweep and watch.
#ifndef BERTH_REAPER_CLI_SWEEP_COMMAND_H_
#define BERTH_REAPER_CLI_SWEEP_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "reaper/cli/options.h"
#include "reaper/watch.h"

namespace berth::reaper {

inline constexpr int kExitBusy = 75;  // EX_TEMPFAIL: another reaper is at work

// Each returns the exit code.
absl::StatusOr<int> RunSweep(const SweepFlags& flags);
absl::StatusOr<int> RunExplain(const SweepFlags& flags, const std::string& id);
absl::StatusOr<int> RunWatch(const SweepFlags& flags, const WatchOptions& watch);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CLI_SWEEP_COMMAND_H_
