// What berth shows of a run of an agent.
#ifndef BERTH_TOOLS_BERTH_AGENT_OUTPUT_H_
#define BERTH_TOOLS_BERTH_AGENT_OUTPUT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"

namespace berth::cli {

// For people one line, or none for what is of no interest to them; as JSON each, one a line.
absl::Status PrintAgentEvent(const AgentEvent& event, bool json);
// The last line: {"kind":"end","run":…,"result":…}.
absl::Status PrintAgentResult(absl::string_view run, const AgentResult& result, bool json);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_AGENT_OUTPUT_H_
