// Proof that a process is a session's, besides its identity: a record could name any process of
// this user, by mistake or by malice, and nothing is signalled on its word alone.
#ifndef BERTH_REAPER_PROOF_H_
#define BERTH_REAPER_PROOF_H_

#include "absl/status/status.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"

namespace berth::reaper {

// OK if each process that the record names is gone or proven to be the session's: a keeper has the
// session's folder open; a main process is in the session's cgroup, has its token, or is the child
// of its keeper. FailedPrecondition, naming the process, otherwise.
absl::Status ProveProcesses(const Store& store, const Record& record);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_PROOF_H_
