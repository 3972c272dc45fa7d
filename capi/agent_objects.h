// The objects behind agents' events and results.
#ifndef BERTH_CAPI_AGENT_OBJECTS_H_
#define BERTH_CAPI_AGENT_OBJECTS_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/berth.h"
#include "capi/handles.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"

namespace berth::capi {

struct AgentEventObject {
  static constexpr Kind kKind = Kind::kAgentEvent;
  std::shared_ptr<const AgentEvent> event;
};

struct AgentResultObject {
  static constexpr Kind kKind = Kind::kAgentResult;
  AgentResult result;
};

// Nothing gives NULL.
absl::Status PutAgentEvent(std::optional<AgentEvent> event, berth_agent_event** out);
absl::Status PutAgentResult(AgentResult result, berth_agent_result** out);
absl::StatusOr<AgentContext> GetAgentContext(const berth_agent_context* context);

}  // namespace berth::capi

#endif  // BERTH_CAPI_AGENT_OBJECTS_H_
