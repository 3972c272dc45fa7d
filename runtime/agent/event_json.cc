#include "runtime/agent/event_json.h"

#include <stdint.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/event.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"

namespace berth {
namespace {

using agent_json::Bool;
using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

constexpr char kTimeFormat[] = "%Y-%m-%d%ET%H:%M:%E6SZ";

Json ToJson(const Usage& usage) {
  return {{"input", usage.input},
          {"output", usage.output},
          {"cache_creation", usage.cache_creation},
          {"cache_read", usage.cache_read},
          {"cost_usd", usage.cost_usd}};
}

Usage ToUsage(const Json& json) {
  return {.input = Count(json, "input"),
          .output = Count(json, "output"),
          .cache_creation = Count(json, "cache_creation"),
          .cache_read = Count(json, "cache_read"),
          .cost_usd = agent_json::Number(json, "cost_usd")};
}

void PutTime(Json* json, const char* name, absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return;
  (*json)[name] = absl::FormatTime(kTimeFormat, time, absl::UTCTimeZone());
}

absl::Time GetTime(const Json& json, const char* name) {
  absl::Time time;
  return absl::ParseTime(kTimeFormat, Text(json, name), &time, nullptr) ? time
                                                                        : absl::InfinitePast();
}

// What is far behind the cut need not be searched for secrets; one that lies across it must be.
constexpr size_t kLongestSecret = 8192;

void PutText(Json* json, const std::string& name, absl::string_view whole,
             const EventJsonOptions& options) {
  if (whole.empty()) return;
  const bool cut = options.max_text != 0 && whole.size() > options.max_text;
  std::string text(cut ? whole.substr(0, options.max_text + kLongestSecret) : whole);
  if (options.redactor != nullptr) text = options.redactor->Redact(std::move(text));
  if (cut) {
    (*json)[name + "_cut"] = whole.size() - options.max_text;
    if (text.size() > options.max_text) text.resize(options.max_text);
  }
  (*json)[name] = std::move(text);
}

void PutShort(Json* json, const char* name, const std::string& text) {
  if (!text.empty()) (*json)[name] = text;
}

absl::StatusOr<Json> ParseObject(absl::string_view text) {
  Json json = agent_json::Parse(text);
  if (!json.is_object()) return absl::InvalidArgumentError("event: it is not JSON, or torn");
  return json;
}

}  // namespace

std::string AgentEventToJson(const AgentEvent& event, const EventJsonOptions& options) {
  Json json = {{"kind", AgentEventKindName(event.kind)}, {"seq", event.sequence}};
  PutTime(&json, "time", event.time);
  PutText(&json, "text", event.text, options);
  PutShort(&json, "session_id", event.session_id);
  PutShort(&json, "model", event.model);
  PutShort(&json, "message_id", event.message_id);
  PutShort(&json, "parent_id", event.parent_id);
  PutShort(&json, "tool_id", event.tool_id);
  PutShort(&json, "tool_name", event.tool_name);
  for (const auto& [name, value] :
       {std::pair("is_error", event.is_error), std::pair("partial", event.partial),
        std::pair("new_turn", event.new_turn), std::pair("hard", event.hard),
        std::pair("stderr", event.from_stderr)}) {
    if (value) json[name] = true;
  }
  if (event.kind == AgentEvent::Kind::kUsage || event.has_usage)
    json["usage"] = ToJson(event.usage);
  if (event.turns != 0) json["turns"] = event.turns;
  PutTime(&json, "resets_at", event.resets_at);
  if (event.truncated_bytes != 0) json["truncated_bytes"] = event.truncated_bytes;
  PutText(&json, "raw", event.raw, options);
  return agent_json::Dump(json);
}

absl::StatusOr<AgentEvent> AgentEventFromJson(absl::string_view text) {
  const absl::StatusOr<Json> parsed = ParseObject(text);
  if (!parsed.ok()) return parsed.status();
  const Json& json = *parsed;
  AgentEvent event;
  bool known = false;
  for (int kind = 0; kind <= static_cast<int>(AgentEvent::Kind::kResult); ++kind) {
    const auto candidate = static_cast<AgentEvent::Kind>(kind);
    if (AgentEventKindName(candidate) != Text(json, "kind")) continue;
    event.kind = candidate;
    known = true;
  }
  if (!known) return absl::InvalidArgumentError("event: its kind is not known");
  event.sequence = Count(json, "seq");
  event.time = GetTime(json, "time");
  for (const auto& [name, field] :
       {std::pair("text", &event.text), std::pair("session_id", &event.session_id),
        std::pair("model", &event.model), std::pair("message_id", &event.message_id),
        std::pair("parent_id", &event.parent_id), std::pair("tool_id", &event.tool_id),
        std::pair("tool_name", &event.tool_name), std::pair("raw", &event.raw)}) {
    *field = Text(json, name);
  }
  event.is_error = Bool(json, "is_error");
  event.partial = Bool(json, "partial");
  event.new_turn = Bool(json, "new_turn");
  event.hard = Bool(json, "hard");
  event.from_stderr = Bool(json, "stderr");
  event.usage = ToUsage(Get(json, "usage"));
  event.has_usage = event.kind == AgentEvent::Kind::kResult && Get(json, "usage").is_object();
  event.turns = Count(json, "turns");
  event.resets_at = GetTime(json, "resets_at");
  event.truncated_bytes = Count(json, "truncated_bytes") + Count(json, "raw_cut");
  return event;
}

std::string AgentResultToJson(const AgentResult& result, const EventJsonOptions& options) {
  Json json = {{"status", AgentStatusName(result.status)},
               {"reason", AgentEndName(result.reason)},
               {"resumed", result.resumed},
               {"resume_refused", result.resume_refused},
               {"usage", ToJson(result.usage)},
               {"tallied", ToJson(result.tallied)},
               {"turns", result.turns},
               {"torn_bytes", result.torn_bytes}};
  PutShort(&json, "session_id", result.session_id);
  PutText(&json, "detail", result.detail, options);
  PutText(&json, "text", result.text, options);
  PutShort(&json, "log_error", result.log_error);
  if (result.exit.reason != EndReason::kUnknown) {
    json["exit"] = {{"code", result.exit.code},
                    {"signal", result.exit.signal},
                    {"reason", EndReasonName(result.exit.reason)}};
  }
  return agent_json::Dump(json);
}

absl::StatusOr<AgentResult> AgentResultFromJson(absl::string_view text) {
  const absl::StatusOr<Json> parsed = ParseObject(text);
  if (!parsed.ok()) return parsed.status();
  const Json& json = *parsed;
  AgentResult result;
  for (int i = 0; i <= static_cast<int>(AgentStatus::kFailed); ++i) {
    const auto status = static_cast<AgentStatus>(i);
    if (AgentStatusName(status) == Text(json, "status")) result.status = status;
  }
  for (int i = 0; i <= static_cast<int>(AgentEnd::kLost); ++i) {
    const auto reason = static_cast<AgentEnd>(i);
    if (AgentEndName(reason) == Text(json, "reason")) result.reason = reason;
  }
  result.detail = Text(json, "detail");
  result.text = Text(json, "text");
  result.session_id = Text(json, "session_id");
  result.log_error = Text(json, "log_error");
  result.resumed = Bool(json, "resumed");
  result.resume_refused = Bool(json, "resume_refused");
  result.usage = ToUsage(Get(json, "usage"));
  result.tallied = ToUsage(Get(json, "tallied"));
  result.turns = Count(json, "turns");
  result.torn_bytes = Count(json, "torn_bytes");
  if (const Json& exit = Get(json, "exit"); exit.is_object()) {
    result.exit.code = static_cast<int>(std::min(Count(exit, "code"), int64_t{255}));
    result.exit.signal = static_cast<int>(std::min(Count(exit, "signal"), int64_t{64}));
    for (int i = 0; i <= static_cast<int>(EndReason::kViolation); ++i) {
      const auto reason = static_cast<EndReason>(i);
      if (EndReasonName(reason) == Text(exit, "reason")) result.exit.reason = reason;
    }
  }
  return result;
}

}  // namespace berth
