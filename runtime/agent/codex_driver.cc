// Codex: `codex exec --json -`.
//
// What one would not guess: it reads standard input to its end even if the prompt is an argument;
// the usage of turn.completed is that of the whole thread so far, not of the turn, so the thread is
// what is counted once; input_tokens includes the cached ones; there is no event for the end but
// turn.completed or turn.failed.
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/usage.h"

namespace berth {
namespace {

using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

constexpr size_t kMaxOpenCalls = 10'000;

// The kind of item is the name of the tool but where the item names one.
std::string ToolName(const Json& item) {
  const absl::string_view type = Text(item, "type");
  if (type == "mcp_tool_call") return absl::StrCat(Text(item, "server"), ".", Text(item, "tool"));
  if (type == "collab_tool_call") return std::string(Text(item, "tool"));
  return std::string(type);
}

bool IsTool(const Json& item) {
  const absl::string_view type = Text(item, "type");
  return type == "command_execution" || type == "file_change" || type == "mcp_tool_call" ||
         type == "collab_tool_call" || type == "web_search";
}

std::string Arguments(const Json& item) {
  for (const char* name : {"command", "arguments", "changes", "query", "prompt"}) {
    if (const Json& value = Get(item, name); !value.is_null()) {
      return agent_json::Dump(Json{{name, value}});
    }
  }
  return "{}";
}

std::string Outcome(const Json& item) {
  if (const absl::string_view output = Text(item, "aggregated_output"); !output.empty()) {
    return std::string(output);
  }
  if (const Json& error = Get(item, "error"); error.is_object()) {
    return std::string(Text(error, "message"));
  }
  return agent_json::ContentText(Get(Get(item, "result"), "content"));
}

class CodexParser final : public AgentParser {
 public:
  void Parse(absl::string_view line, std::vector<AgentEvent>* events) override {
    const Json json = agent_json::Parse(line);
    events_ = events;
    const size_t before = events->size();
    const absl::string_view type = Text(json, "type");
    if (type == "thread.started") {
      thread_ = Text(json, "thread_id");
      Add(AgentEvent::Kind::kStarted).session_id = thread_;
    } else if (type == "turn.started") {
      Add(AgentEvent::Kind::kRaw).new_turn = true;
      ++turns_;
    } else if (type == "item.started") {
      if (IsTool(Get(json, "item"))) Call(Get(json, "item"));
    } else if (type == "item.completed") {
      Completed(Get(json, "item"));
    } else if (type == "turn.completed") {
      Done(json);
    } else if (type == "turn.failed") {
      Failed(Text(Get(json, "error"), "message"), /*end=*/true);
    } else if (type == "error") {
      Failed(Text(json, "message"), /*end=*/false);
    } else if (type == "request_user_input") {
      Add(AgentEvent::Kind::kWaiting).text = agent_json::Dump(Get(json, "questions"));
    }
    if (events->size() == before) Add(AgentEvent::Kind::kRaw);
  }

 private:
  AgentEvent& Add(AgentEvent::Kind kind) {
    AgentEvent& event = events_->emplace_back();
    event.kind = kind;
    return event;
  }

  void Call(const Json& item) {
    AgentEvent& event = Add(AgentEvent::Kind::kToolCall);
    event.tool_id = Text(item, "id");
    event.tool_name = ToolName(item);
    event.text = Arguments(item);
    if (calls_.size() < kMaxOpenCalls) calls_.insert(event.tool_id);
  }

  void Completed(const Json& item) {
    if (Text(item, "type") == "agent_message") {
      AgentEvent& event = Add(AgentEvent::Kind::kText);
      event.message_id = Text(item, "id");
      event.text = Text(item, "text");
      last_text_ = event.text;
    } else if (IsTool(item)) {
      // Some (file changes) are told only once they are done.
      if (calls_.erase(std::string(Text(item, "id"))) == 0) Call(item);
      calls_.erase(std::string(Text(item, "id")));
      AgentEvent& event = Add(AgentEvent::Kind::kToolResult);
      event.tool_id = Text(item, "id");
      event.tool_name = ToolName(item);
      event.text = Outcome(item);
      const absl::string_view status = Text(item, "status");
      event.is_error = status == "failed" || status == "declined";
    }
  }

  void Done(const Json& json) {
    const Json& told = Get(json, "usage");
    Usage usage;
    usage.cache_read = Count(told, "cached_input_tokens");
    usage.input = Count(told, "input_tokens") - usage.cache_read;
    if (usage.input < 0) usage.input = 0;
    usage.output = Count(told, "output_tokens");
    if (told.is_object()) {
      AgentEvent& event = Add(AgentEvent::Kind::kUsage);
      event.message_id = thread_.empty() ? "thread" : thread_;
      event.usage = usage;
    }
    AgentEvent& result = Add(AgentEvent::Kind::kResult);
    result.session_id = thread_;
    result.text = last_text_;
    result.turns = turns_;
    result.usage = usage;
    result.has_usage = told.is_object();
  }

  void Failed(absl::string_view message, bool end) {
    static const RE2* const limited =
        new RE2("(?i)rate limit|usage limit|too many requests|\\b429\\b");
    if (RE2::PartialMatch(message, *limited)) {
      AgentEvent& event = Add(AgentEvent::Kind::kRateLimit);
      event.hard = true;
      event.text = message;
    }
    if (!end) return;
    AgentEvent& result = Add(AgentEvent::Kind::kResult);
    result.session_id = thread_;
    result.is_error = true;
    result.text = message;
    result.turns = turns_;
  }

  std::vector<AgentEvent>* events_ = nullptr;
  std::string thread_, last_text_;
  int64_t turns_ = 0;
  absl::flat_hash_set<std::string> calls_;  // told of, and not done yet
};

}  // namespace

const AgentDriver& CodexDriver() {
  static const AgentDriver* const driver = new AgentDriver{
      .name = "codex",
      .program = "codex",
      .before = {"exec", "--json"},
      .resume = {"resume", "{session}"},
      .mcp = {"-c", R"(mcp_servers.berth.url="{mcp}")"},
      .after = {"-"},
      .resume_refused =
          "(?i)(no|not find|unknown) .*(session|thread|rollout)|(session|thread) .*not found",
      .make_parser = []() -> std::unique_ptr<AgentParser> {
        return std::make_unique<CodexParser>();
      }};
  return *driver;
}

}  // namespace berth
