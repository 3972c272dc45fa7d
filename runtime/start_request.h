// From a description to what the launcher is asked: checked, resolved, absolute.
#ifndef BERTH_RUNTIME_START_REQUEST_H_
#define BERTH_RUNTIME_START_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/env.h"
#include "runtime/spec.h"

namespace berth {

// InvalidArgument if there is no program or a NUL byte in an argument.
absl::Status CheckCommand(const Command& command);

// `cwd`, or this process's if it is "". InvalidArgument if it is not absolute or has a NUL byte.
absl::StatusOr<std::string> ResolveCwd(absl::string_view cwd);

// With the host's environment to inherit from.
absl::StatusOr<std::vector<std::string>> ResolveEnv(const Env& env);

}  // namespace berth

#endif  // BERTH_RUNTIME_START_REQUEST_H_
