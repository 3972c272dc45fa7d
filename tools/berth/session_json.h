// Sessions, ends and usage as --json prints them, and the printing.
#ifndef BERTH_TOOLS_BERTH_SESSION_JSON_H_
#define BERTH_TOOLS_BERTH_SESSION_JSON_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "tools/berth/json.h"

namespace berth::cli {

Json ToJson(const SessionInfo& info);
Json ToJson(const ExitStatus& status);
Json ToJson(absl::string_view name, const Stats& stats);

// One object or array and a line end.
absl::Status PrintJson(const Json& json);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SESSION_JSON_H_
