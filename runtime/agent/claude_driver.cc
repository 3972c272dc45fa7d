// Claude Code: `claude --print --output-format stream-json --verbose`.
//
// What one would not guess of its stream: an answer comes as one line per block, each with the id
// and the whole usage of the same message; with partial messages the first usage of an id is
// smaller than the last; lines of sub-agents are told by parent_tool_use_id; a rate_limit_event
// comes with every answer and stops nothing unless its status is "rejected"; a refused --resume is
// a result with the reason in `errors`.
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/usage.h"

namespace berth {
namespace {

using agent_json::Bool;
using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

Usage ToUsage(const Json& json) {
  return {.input = Count(json, "input_tokens"),
          .output = Count(json, "output_tokens"),
          .cache_creation = Count(json, "cache_creation_input_tokens"),
          .cache_read = Count(json, "cache_read_input_tokens")};
}

// Seconds since 1970; milliseconds are known by their size.
absl::Time ToTime(int64_t number) {
  if (number == 0) return absl::InfinitePast();
  return number > int64_t{100'000'000'000} ? absl::FromUnixMillis(number)
                                           : absl::FromUnixSeconds(number);
}

class ClaudeParser final : public AgentParser {
 public:
  void Parse(absl::string_view line, std::vector<AgentEvent>* events) override {
    const Json json = agent_json::Parse(line);
    events_ = events;
    const size_t before = events->size();
    const absl::string_view type = Text(json, "type");
    parent_ = Text(json, "parent_tool_use_id");
    if (type == "system" && Text(json, "subtype") == "init") {
      AgentEvent& event = Add(AgentEvent::Kind::kStarted);
      event.session_id = Text(json, "session_id");
      event.model = Text(json, "model");
    } else if (type == "assistant") {
      Assistant(json);
    } else if (type == "user") {
      ToolResults(Get(Get(json, "message"), "content"));
    } else if (type == "stream_event") {
      Partial(Get(json, "event"));
    } else if (type == "rate_limit_event") {
      RateLimit(Get(json, "rate_limit_info"));
    } else if (type == "control_request") {
      const Json& request = Get(json, "request");
      if (Text(request, "subtype") == "can_use_tool") {
        AgentEvent& event = Add(AgentEvent::Kind::kWaiting);
        event.tool_name = Text(request, "tool_name");
        event.text = absl::StrCat("may it use ", event.tool_name, "?");
      }
    } else if (type == "result") {
      Result(json);
    }
    if (events->size() == before) Add(AgentEvent::Kind::kRaw);
  }

 private:
  AgentEvent& Add(AgentEvent::Kind kind) {
    AgentEvent& event = events_->emplace_back();
    event.kind = kind;
    event.parent_id = parent_;
    return event;
  }

  void Assistant(const Json& json) {
    const Json& message = Get(json, "message");
    const std::string id(Text(message, "id"));
    const bool new_turn = parent_.empty() && !id.empty() && id != last_id_;
    if (new_turn) last_id_ = id;
    const size_t before = events_->size();
    if (const Json& content = Get(message, "content"); content.is_array()) {
      for (const Json& block : content) Block(block);
    }
    if (const Json& usage = Get(message, "usage"); usage.is_object()) {
      Add(AgentEvent::Kind::kUsage).usage = ToUsage(usage);
    }
    if (Text(json, "error") == "rate_limit") Add(AgentEvent::Kind::kRateLimit).hard = true;
    if (events_->size() == before) Add(AgentEvent::Kind::kRaw);
    (*events_)[before].new_turn = new_turn;
    for (size_t i = before; i < events_->size(); ++i) {
      (*events_)[i].message_id = id;
      (*events_)[i].model = Text(message, "model");
    }
  }

  void Block(const Json& block) {
    const absl::string_view type = Text(block, "type");
    if (type == "text") {
      Add(AgentEvent::Kind::kText).text = Text(block, "text");
    } else if (type == "tool_use") {
      AgentEvent& call = Add(AgentEvent::Kind::kToolCall);
      call.tool_id = Text(block, "id");
      call.tool_name = Text(block, "name");
      call.text = agent_json::Dump(Get(block, "input"));
      // Tools that are nothing but a question to whoever sits in front of it.
      if (call.tool_name != "AskUserQuestion" && call.tool_name != "ExitPlanMode") return;
      const std::string asked = call.text, tool = call.tool_name;
      AgentEvent& waiting = Add(AgentEvent::Kind::kWaiting);
      waiting.tool_name = tool;
      waiting.text = asked;
    }
  }

  void ToolResults(const Json& content) {
    if (!content.is_array()) return;
    for (const Json& block : content) {
      if (Text(block, "type") != "tool_result") continue;
      AgentEvent& event = Add(AgentEvent::Kind::kToolResult);
      event.tool_id = Text(block, "tool_use_id");
      event.is_error = Bool(block, "is_error");
      event.text = agent_json::ContentText(Get(block, "content"));
    }
  }

  // Of --include-partial-messages: pieces of a message that will come whole too. Only its first
  // event names the message.
  void Partial(const Json& event) {
    const absl::string_view type = Text(event, "type");
    if (type == "message_start") {
      const Json& message = Get(event, "message");
      if (open_.size() > 1000) open_.clear();
      open_[parent_] = std::string(Text(message, "id"));
      PartialUsage(Get(message, "usage"));
    } else if (type == "message_delta") {
      PartialUsage(Get(event, "usage"));
    } else if (type == "content_block_delta") {
      const Json& delta = Get(event, "delta");
      if (Text(delta, "type") != "text_delta") return;
      AgentEvent& text = Add(AgentEvent::Kind::kText);
      text.partial = true;
      text.message_id = open_[parent_];
      text.text = Text(delta, "text");
    }
  }

  void PartialUsage(const Json& usage) {
    const std::string id = open_[parent_];
    if (!usage.is_object() || id.empty()) return;
    AgentEvent& event = Add(AgentEvent::Kind::kUsage);
    event.partial = true;
    event.message_id = id;
    event.usage = ToUsage(usage);
  }

  void RateLimit(const Json& info) {
    if (!info.is_object()) return;
    AgentEvent& event = Add(AgentEvent::Kind::kRateLimit);
    event.text = Text(info, "status");
    const bool paid = Bool(info, "isUsingOverage") && Text(info, "overageStatus") != "rejected";
    event.hard = (event.text == "rejected" || event.text == "denied") && !paid;
    event.resets_at = ToTime(Count(info, "resetsAt"));
  }

  void Result(const Json& json) {
    AgentEvent& event = Add(AgentEvent::Kind::kResult);
    event.session_id = Text(json, "session_id");
    event.is_error = Bool(json, "is_error") || Text(json, "subtype").starts_with("error");
    event.turns = Count(json, "num_turns");
    event.text = Text(json, "result");
    if (event.text.empty() && event.is_error) {
      event.text = Text(json, "subtype");
      if (const Json& errors = Get(json, "errors"); errors.is_array() && !errors.empty()) {
        absl::StrAppend(&event.text, ": ", agent_json::ContentText(errors[0]));
      }
    }
    event.usage = ToUsage(Get(json, "usage"));
    event.usage.cost_usd = agent_json::Number(json, "total_cost_usd");
    event.has_usage = Get(json, "usage").is_object();
  }

  std::vector<AgentEvent>* events_ = nullptr;
  std::string parent_;                                  // of the line being read
  std::string last_id_;                                 // the last message of the agent itself
  absl::flat_hash_map<std::string, std::string> open_;  // by parent: the message that comes now
};

}  // namespace

const AgentDriver& ClaudeDriver() {
  static const AgentDriver* const driver = new AgentDriver{
      .name = "claude",
      .program = "claude",
      .before = {"--print", "--output-format", "stream-json", "--verbose"},
      .resume = {"--resume", "{session}"},
      .turns = {"--max-turns", "{turns}"},
      .cost = {"--max-budget-usd", "{cost}"},
      .mcp = {"--mcp-config", R"({"mcpServers":{"berth":{"type":"http","url":"{mcp}"}}})"},
      .resume_refused = "(?i)no conversation found|session .*(not found|does not exist)",
      .make_parser = []() -> std::unique_ptr<AgentParser> {
        return std::make_unique<ClaudeParser>();
      }};
  return *driver;
}

}  // namespace berth
