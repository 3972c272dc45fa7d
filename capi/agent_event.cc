// What agents did, and how their runs ended.

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "capi/agent_objects.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"

namespace berth::capi {
namespace {

const std::string* TextOf(const AgentEvent& event, int32_t field) {
  switch (field) {
    case BERTH_AGENT_EVENT_TEXT:
      return &event.text;
    case BERTH_AGENT_EVENT_RAW:
      return &event.raw;
    case BERTH_AGENT_EVENT_SESSION_ID:
      return &event.session_id;
    case BERTH_AGENT_EVENT_MODEL:
      return &event.model;
    case BERTH_AGENT_EVENT_MESSAGE_ID:
      return &event.message_id;
    case BERTH_AGENT_EVENT_PARENT_ID:
      return &event.parent_id;
    case BERTH_AGENT_EVENT_TOOL_ID:
      return &event.tool_id;
    case BERTH_AGENT_EVENT_TOOL_NAME:
      return &event.tool_name;
  }
  return nullptr;
}

int64_t UnixNanos(absl::Time time) {
  return time == absl::InfinitePast() ? -1 : absl::ToUnixNanos(time);
}

int64_t NumberOf(const AgentEvent& event, int32_t field) {
  switch (field) {
    case BERTH_AGENT_EVENT_KIND:
      return static_cast<int64_t>(event.kind);
    case BERTH_AGENT_EVENT_SEQUENCE:
      return event.sequence;
    case BERTH_AGENT_EVENT_UNIX_NS:
      return UnixNanos(event.time);
    case BERTH_AGENT_EVENT_IS_ERROR:
      return event.is_error;
    case BERTH_AGENT_EVENT_PARTIAL:
      return event.partial;
    case BERTH_AGENT_EVENT_NEW_TURN:
      return event.new_turn;
    case BERTH_AGENT_EVENT_HAS_USAGE:
      return event.has_usage;
    case BERTH_AGENT_EVENT_TURNS:
      return event.turns;
    case BERTH_AGENT_EVENT_HARD:
      return event.hard;
    case BERTH_AGENT_EVENT_RESETS_AT_UNIX_NS:
      return UnixNanos(event.resets_at);
    case BERTH_AGENT_EVENT_FROM_STDERR:
      return event.from_stderr;
    case BERTH_AGENT_EVENT_TRUNCATED_BYTES:
      return event.truncated_bytes;
  }
  return -1;
}

int64_t NumberOf(const AgentResult& result, int32_t field) {
  switch (field) {
    case BERTH_AGENT_RESULT_STATUS:
      return static_cast<int64_t>(result.status);
    case BERTH_AGENT_RESULT_REASON:
      return static_cast<int64_t>(result.reason);
    case BERTH_AGENT_RESULT_TURNS:
      return result.turns;
    case BERTH_AGENT_RESULT_RESUMED:
      return result.resumed;
    case BERTH_AGENT_RESULT_RESUME_REFUSED:
      return result.resume_refused;
    case BERTH_AGENT_RESULT_TORN_BYTES:
      return result.torn_bytes;
  }
  return -1;
}

const std::string* TextOf(const AgentResult& result, int32_t field) {
  switch (field) {
    case BERTH_AGENT_RESULT_TEXT:
      return &result.text;
    case BERTH_AGENT_RESULT_DETAIL:
      return &result.detail;
    case BERTH_AGENT_RESULT_SESSION_ID:
      return &result.session_id;
    case BERTH_AGENT_RESULT_LOG_ERROR:
      return &result.log_error;
  }
  return nullptr;
}

berth_usage ToUsage(const Usage& usage) {
  return {usage.input, usage.output, usage.cache_creation, usage.cache_read, usage.cost_usd};
}

static_assert(static_cast<int>(AgentEvent::Kind::kResult) == BERTH_AGENT_RESULT &&
              static_cast<int>(AgentEvent::Kind::kToolCall) == BERTH_AGENT_TOOL_CALL &&
              static_cast<int>(AgentStatus::kFailed) == BERTH_AGENT_FAILED &&
              static_cast<int>(AgentEnd::kLost) == BERTH_AGENT_END_LOST);

}  // namespace

absl::Status PutAgentEvent(std::optional<AgentEvent> event, berth_agent_event** out) {
  if (!event.has_value()) {
    *out = nullptr;
    return absl::OkStatus();
  }
  return Put(std::make_shared<AgentEventObject>(
                 AgentEventObject{std::make_shared<const AgentEvent>(*std::move(event))}),
             out);
}

absl::Status PutAgentResult(AgentResult result, berth_agent_result** out) {
  return Put(std::make_shared<AgentResultObject>(AgentResultObject{std::move(result)}), out);
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::AgentEvent;

const char* berth_agent_event_name(int32_t kind) {
  const bool known = kind >= BERTH_AGENT_RAW && kind <= BERTH_AGENT_RESULT;
  return GiveName(known,
                  known ? berth::AgentEventKindName(static_cast<AgentEvent::Kind>(kind)) : "");
}

int64_t berth_agent_event_number(const berth_agent_event* event, int32_t field) {
  const std::shared_ptr<AgentEventObject> object = Handles::Find<AgentEventObject>(event);
  return object == nullptr ? -1 : NumberOf(*object->event, field);
}

const char* berth_agent_event_text(const berth_agent_event* event, int32_t field, size_t* size) {
  const std::shared_ptr<AgentEventObject> object = Handles::Find<AgentEventObject>(event);
  return GiveText(object == nullptr ? nullptr : TextOf(*object->event, field), size);
}

int32_t berth_agent_event_usage(berth_usage* usage, const berth_agent_event* event,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(usage, "usage"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentEventObject>(event, "event"));
    *usage = ToUsage(object->event->usage);
    return absl::OkStatus();
  });
}

int32_t berth_agent_event_json(berth_string** json, const berth_agent_event* event,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(json, "json"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentEventObject>(event, "event"));
    return PutString(berth::AgentEventToJson(*object->event), json);
  });
}

void berth_agent_event_free(berth_agent_event* event) { Handles::Remove<AgentEventObject>(event); }

const char* berth_agent_status_name(int32_t status) {
  const bool known = status >= BERTH_AGENT_IDLE && status <= BERTH_AGENT_FAILED;
  return GiveName(known,
                  known ? berth::AgentStatusName(static_cast<berth::AgentStatus>(status)) : "");
}

const char* berth_agent_end_name(int32_t end) {
  const bool known = end >= BERTH_AGENT_END_NONE && end <= BERTH_AGENT_END_LOST;
  return GiveName(known, known ? berth::AgentEndName(static_cast<berth::AgentEnd>(end)) : "");
}

int64_t berth_agent_result_number(const berth_agent_result* result, int32_t field) {
  const std::shared_ptr<AgentResultObject> object = Handles::Find<AgentResultObject>(result);
  return object == nullptr ? -1 : NumberOf(object->result, field);
}

const char* berth_agent_result_text(const berth_agent_result* result, int32_t field, size_t* size) {
  const std::shared_ptr<AgentResultObject> object = Handles::Find<AgentResultObject>(result);
  return GiveText(object == nullptr ? nullptr : TextOf(object->result, field), size);
}

int32_t berth_agent_result_usage(berth_usage* usage, berth_usage* tallied,
                                 const berth_agent_result* result, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentResultObject>(result, "result"));
    if (usage != nullptr) *usage = ToUsage(object->result.usage);
    if (tallied != nullptr) *tallied = ToUsage(object->result.tallied);
    return absl::OkStatus();
  });
}

int32_t berth_agent_result_exit(berth_exit* status, const berth_agent_result* result,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(status, "status"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentResultObject>(result, "result"));
    return PutExit(object->result.exit, status);
  });
}

int32_t berth_agent_result_json(berth_string** json, const berth_agent_result* result,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(json, "json"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentResultObject>(result, "result"));
    return PutString(berth::AgentResultToJson(object->result), json);
  });
}

void berth_agent_result_free(berth_agent_result* result) {
  Handles::Remove<AgentResultObject>(result);
}
