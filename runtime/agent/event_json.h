// Events as JSON: what the event log and `berth agent events --json` hold. Names are added, never
// changed.
#ifndef BERTH_RUNTIME_AGENT_EVENT_JSON_H_
#define BERTH_RUNTIME_AGENT_EVENT_JSON_H_

#include <stddef.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/event.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/result.h"

namespace berth {

struct EventJsonOptions {
  const Redactor* redactor = nullptr;
  // A text longer than this is cut, and `text_cut` or `raw_cut` says by how many bytes. 0: never.
  size_t max_text = 0;
};

// One line, without its end.
std::string AgentEventToJson(const AgentEvent& event, const EventJsonOptions& options = {});
// InvalidArgument if it is none.
absl::StatusOr<AgentEvent> AgentEventFromJson(absl::string_view json);

std::string AgentResultToJson(const AgentResult& result, const EventJsonOptions& options = {});
absl::StatusOr<AgentResult> AgentResultFromJson(absl::string_view json);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_EVENT_JSON_H_
