// Gemini CLI: `gemini --output-format stream-json`, the prompt on standard input.
//
// What one would not guess: texts come in pieces with `delta`, and never whole; the user's own
// message is repeated; input_tokens of the stats includes the cached ones; MCP servers can be named
// in its settings file only, where "$BERTH_MCP_URL" may stand.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "re2/re2.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/json_line.h"

namespace berth {
namespace {

using agent_json::Bool;
using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

constexpr size_t kMaxAnswerBytes = size_t{1} << 20;

class GeminiParser final : public AgentParser {
 public:
  void Parse(absl::string_view line, std::vector<AgentEvent>* events) override {
    const Json json = agent_json::Parse(line);
    events_ = events;
    const size_t before = events->size();
    const absl::string_view type = Text(json, "type");
    if (type == "init") {
      session_ = Text(json, "session_id");
      AgentEvent& event = Add(AgentEvent::Kind::kStarted);
      event.session_id = session_;
      event.model = Text(json, "model");
    } else if (type == "message" && Text(json, "role") == "assistant") {
      Said(json);
    } else if (type == "tool_use") {
      AgentEvent& event = Add(AgentEvent::Kind::kToolCall);
      event.tool_id = Text(json, "tool_id");
      event.tool_name = Text(json, "tool_name");
      event.text = agent_json::Dump(Get(json, "parameters"));
      event.new_turn = Speaks();
    } else if (type == "tool_result") {
      AgentEvent& event = Add(AgentEvent::Kind::kToolResult);
      event.tool_id = Text(json, "tool_id");
      event.is_error = Text(json, "status") == "error";
      const Json& error = Get(json, "error");
      event.text = error.is_object() ? Text(error, "message") : Text(json, "output");
      speaking_ = false;
      answer_.clear();
    } else if (type == "error") {
      Trouble(Text(json, "message"));
    } else if (type == "result") {
      Result(json);
    }
    if (events->size() == before) Add(AgentEvent::Kind::kRaw);
  }

 private:
  AgentEvent& Add(AgentEvent::Kind kind) {
    AgentEvent& event = events_->emplace_back();
    event.kind = kind;
    return event;
  }

  // Whether this is the first word after a result of a tool: one more turn.
  bool Speaks() {
    if (speaking_) return false;
    speaking_ = true;
    ++turns_;
    return true;
  }

  void Said(const Json& json) {
    AgentEvent& event = Add(AgentEvent::Kind::kText);
    event.text = Text(json, "content");
    event.partial = Bool(json, "delta");
    event.new_turn = Speaks();
    if (!event.partial) answer_.clear();
    if (answer_.size() < kMaxAnswerBytes) answer_ += event.text;
  }

  void Trouble(absl::string_view message) {
    static const RE2* const limited =
        new RE2("(?i)rate limit|quota|resource.?exhausted|too many requests|\\b429\\b");
    if (!RE2::PartialMatch(message, *limited)) return;
    AgentEvent& event = Add(AgentEvent::Kind::kRateLimit);
    event.hard = true;
    event.text = message;
  }

  void Result(const Json& json) {
    AgentEvent& event = Add(AgentEvent::Kind::kResult);
    event.session_id = session_;
    event.turns = turns_;
    event.is_error = Text(json, "status") != "success";
    event.text = event.is_error ? std::string(Text(Get(json, "error"), "message")) : answer_;
    const Json& stats = Get(json, "stats");
    event.has_usage = stats.is_object();
    event.usage.cache_read = Count(stats, "cached");
    const int64_t input = Count(stats, "input_tokens") - event.usage.cache_read;
    event.usage.input = input > 0 ? input : 0;
    event.usage.output = Count(stats, "output_tokens");
  }

  std::vector<AgentEvent>* events_ = nullptr;
  std::string session_, answer_;
  bool speaking_ = false;
  int64_t turns_ = 0;
};

}  // namespace

const AgentDriver& GeminiDriver() {
  static const AgentDriver* const driver = new AgentDriver{
      .name = "gemini",
      .program = "gemini",
      .before = {"--output-format", "stream-json"},
      .resume = {"--resume", "{session}"},
      .resume_refused =
          "(?i)error resuming session|invalid session identifier|no previous sessions",
      .make_parser = []() -> std::unique_ptr<AgentParser> {
        return std::make_unique<GeminiParser>();
      }};
  return *driver;
}

}  // namespace berth
