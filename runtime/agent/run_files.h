// Where the logs of runs lie, and what they are called. Internal to runtime/agent.
#ifndef BERTH_RUNTIME_AGENT_RUN_FILES_H_
#define BERTH_RUNTIME_AGENT_RUN_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

// The folder, made if it is missing; FailedPrecondition if it is a symlink or another user's.
absl::StatusOr<UniqueFd> OpenRunsFolder(const std::string& state_dir);

// "<name>-20260131T235959.123-1a2b".
absl::StatusOr<std::string> NewRunId(absl::string_view name, absl::Time now);
// The name in a run id; "" if it is none.
absl::string_view NameOfRun(absl::string_view run_id);
std::string RunFileName(absl::string_view run_id);

// Run ids in the folder, the latest last.
absl::StatusOr<std::vector<std::string>> ListRunIds(int folder);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_RUN_FILES_H_
