// How berth ends, and how a failure says what to do next. The numbers are those of docker, podman,
// env and timeout.
#ifndef BERTH_TOOLS_BERTH_EXIT_CODE_H_
#define BERTH_TOOLS_BERTH_EXIT_CODE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/types.h"

namespace berth::cli {

inline constexpr int kOk = 0;
inline constexpr int kUsage = 2;            // the command line is wrong
inline constexpr int kTimedOut = 124;       // a --timeout or a limit passed
inline constexpr int kFailed = 125;         // berth itself could not do it
inline constexpr int kNotExecutable = 126;  // the command is there but cannot be executed
inline constexpr int kNotFound = 127;       // there is no such command

// `status` with a sentence on what to do next. The first hint that is given stays.
absl::Status WithHint(absl::Status status, absl::string_view hint);
std::string HintOf(const absl::Status& status);

// `status` that ends berth with `code` instead of what ExitCodeOf would choose.
absl::Status WithExitCode(absl::Status status, int code);
// The command line is wrong; so is InvalidArgument from anywhere else, since all values come from
// there.
inline absl::Status UsageError(absl::string_view message) {
  return absl::InvalidArgumentError(message);
}
int ExitCodeOf(const absl::Status& status);

// Marks the failure to start a program: not found, not executable, or berth's own.
absl::Status StartFailure(absl::Status status);

// The code that a program's end becomes: its own, 128 + signal, or kTimedOut if a limit of ours
// ended it. Nothing if nobody saw how it ended.
std::optional<int> ExitCodeOf(const ExitStatus& status);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_EXIT_CODE_H_
