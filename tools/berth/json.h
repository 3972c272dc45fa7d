// The objects that --json prints. Their keys are a promise: docs/cli.md lists them, keys are added
// and never changed.
#ifndef BERTH_TOOLS_BERTH_JSON_H_
#define BERTH_TOOLS_BERTH_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::cli {

using Json = nlohmann::ordered_json;

Json ToJson(const SessionInfo& info);
Json ToJson(const ExitStatus& status);
Json ToJson(const Stats& stats);

// One object or array and a line end. Bytes that are not UTF-8 become U+FFFD.
absl::Status PrintJson(const Json& json);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_JSON_H_
