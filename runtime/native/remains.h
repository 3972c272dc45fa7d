// What is left of a native session whose keeper is gone: asked and removed by its record alone, by
// identity and never by a bare pid.
#ifndef BERTH_RUNTIME_NATIVE_REMAINS_H_
#define BERTH_RUNTIME_NATIVE_REMAINS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/types.h"

namespace berth {

// How the session ended, from what its keeper wrote down. Unavailable if its main process may still
// be there.
absl::StatusOr<ExitStatus> EndOfRemains(const Store& store, const Record& record);

// Ends what may still run (keeper, main process, everything in the session's cgroup), proves that
// it is gone, then removes cgroup, socket and record. Fine if nothing is there.
absl::Status RemoveRemains(const Store& store, const Record& record);

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_REMAINS_H_
