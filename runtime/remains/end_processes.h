// Ending what a session left running, by its record alone: by identity and by cgroup, never by a
// bare pid. For whoever removes a session whose keeper is gone or does not answer. Thread-safe.
//
//   ABSL_RETURN_IF_ERROR(EndProcesses(record, {.deadline = absl::Now() + absl::Seconds(10)}));
//   // nothing of it runs now
#ifndef BERTH_RUNTIME_REMAINS_END_PROCESSES_H_
#define BERTH_RUNTIME_REMAINS_END_PROCESSES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/record/record.h"

namespace berth {

struct EndOptions {
  // How long a keeper that ends its session by itself is waited for, and then the time between TERM
  // and KILL. Zero: KILL at once.
  absl::Duration grace = absl::ZeroDuration();
  absl::Time deadline;  // by which everything is to be gone
};

// Ends keeper, main process, the first process of its pid namespace, everything in its cgroup, and,
// where a keeper held the tree, everything with its token; removes the cgroup. OK is the proof that
// all of it is gone. DeadlineExceeded: something still is there. FailedPrecondition: a cgroup that
// does not carry the session's id, or a process that cannot be identified from here: nothing was
// signalled that is not the session's.
absl::Status EndProcesses(const Record& record, const EndOptions& options);

// Ends every process that was started with `entry` ("NAME=value", a secret) in its environment:
// TERM, grace, KILL, until none is found any more.
absl::Status EndProcessesWith(absl::string_view entry, const EndOptions& options);

// Kills all that is in the group and below, waits until it is gone, and removes the group and those
// of v1 hierarchies that have its limits. Fine if there is none. The caller has to know that the
// group is its own.
absl::Status EndCgroup(const std::string& path, const EndOptions& options);

// Whether `path` is a group that only that session can have: its last part carries the session's
// id, which is never used twice.
bool IsCgroupOf(const Record& record, const std::string& path);

}  // namespace berth

#endif  // BERTH_RUNTIME_REMAINS_END_PROCESSES_H_
