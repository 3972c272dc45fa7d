#include "runtime/agent/event.h"

#include "absl/strings/string_view.h"

namespace berth {

absl::string_view AgentEventKindName(AgentEvent::Kind kind) {
  switch (kind) {
    case AgentEvent::Kind::kRaw:
      return "raw";
    case AgentEvent::Kind::kStarted:
      return "started";
    case AgentEvent::Kind::kText:
      return "text";
    case AgentEvent::Kind::kToolCall:
      return "tool_call";
    case AgentEvent::Kind::kToolResult:
      return "tool_result";
    case AgentEvent::Kind::kUsage:
      return "usage";
    case AgentEvent::Kind::kRateLimit:
      return "rate_limit";
    case AgentEvent::Kind::kWaiting:
      return "waiting";
    case AgentEvent::Kind::kResult:
      return "result";
  }
  return "raw";
}

}  // namespace berth
