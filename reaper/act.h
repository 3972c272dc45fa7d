// Acting on a decision: ending a session's processes and proving them gone, then what it had on
// disk, the record last, so that a reaper that is killed in between leaves a session that is seen
// again.
#ifndef BERTH_REAPER_ACT_H_
#define BERTH_REAPER_ACT_H_

#include <string>

#include "absl/status/status.h"
#include "reaper/engine.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/remains/end_processes.h"

namespace berth::reaper {

// Ends and removes what the record names, but not the record.
absl::Status Clear(const Store& store, const Record& record, const Engines& engines,
                   const EndOptions& options);

// The same, and the record.
absl::Status Reap(const Store& store, const Record& record, const Engines& engines,
                  const EndOptions& options);

// Removes a folder and all below it, once what is mounted there is taken away, following no
// symlink. The last part of its path must be "berth-<uid>", alone or followed by '-' or '.' and
// more: FailedPrecondition otherwise, and if it is not this user's. Fine if there is none.
absl::Status RemoveTempDir(const std::string& path, const std::string& uid);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_ACT_H_
