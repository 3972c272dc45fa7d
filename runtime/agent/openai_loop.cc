// OpenAI-compatible chat completions: POST <url>/chat/completions.
#include <stdint.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/agent/api_endpoint.h"
#include "runtime/agent/api_loop.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/mcp_client.h"

namespace berth {
namespace {

using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

class OpenAiDialect final : public ApiDialect {
 public:
  OpenAiDialect(const ApiEndpoint& endpoint, absl::string_view prompt) : endpoint_(endpoint) {
    if (!endpoint.system.empty()) Say("system", endpoint.system);
    Say("user", prompt);
  }

  std::string Url() const override {
    return absl::StrCat(absl::StripSuffix(endpoint_.url, "/"), "/chat/completions");
  }
  std::vector<std::pair<std::string, std::string>> Headers() const override {
    if (endpoint_.key.empty()) return {};
    return {{"Authorization", absl::StrCat("Bearer ", endpoint_.key)}};
  }
  void SetTools(const std::vector<McpTool>& tools) override {
    for (const McpTool& tool : tools) {
      tools_.push_back({{"type", "function"},
                        {"function",
                         {{"name", tool.name},
                          {"description", tool.description},
                          {"parameters", tool.schema}}}});
    }
  }
  Json Request() const override {
    Json request = {{"model", endpoint_.model}, {"messages", messages_}};
    if (!tools_.empty()) request["tools"] = tools_;
    return request;
  }

  absl::StatusOr<ApiTurn> TakeAnswer(const Json& answer) override {
    const Json& choices = Get(answer, "choices");
    if (!choices.is_array() || choices.empty()) {
      return absl::DataLossError("chat completions: the answer has no choices");
    }
    const Json& message = Get(choices[0], "message");
    if (!message.is_object()) {
      return absl::DataLossError("chat completions: the answer has no message");
    }
    if (const absl::string_view refusal = Text(message, "refusal"); !refusal.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("the model refuses: ", refusal));
    }
    ApiTurn turn;
    turn.message_id = Text(answer, "id");
    turn.text = agent_json::ContentText(Get(message, "content"));
    if (const Json& calls = Get(message, "tool_calls"); calls.is_array()) {
      for (const Json& call : calls) {
        const Json& function = Get(call, "function");
        // A string of JSON; a call without arguments may have none.
        const absl::string_view arguments = Text(function, "arguments");
        turn.calls.push_back({std::string(Text(call, "id")), std::string(Text(function, "name")),
                              arguments.empty() ? Json::object() : agent_json::Parse(arguments)});
      }
    }
    const Json& usage = Get(answer, "usage");
    turn.usage.cache_read = Count(Get(usage, "prompt_tokens_details"), "cached_tokens");
    turn.usage.input = std::max<int64_t>(Count(usage, "prompt_tokens") - turn.usage.cache_read, 0);
    turn.usage.output = Count(usage, "completion_tokens");
    // As it came: servers want to see their own words again, with fields that only they know.
    messages_.push_back(message);
    return turn;
  }

  void AddOutcome(const ApiCall& call, const McpOutcome& outcome) override {
    messages_.push_back(
        {{"role", "tool"},
         {"tool_call_id", call.id},
         {"content", outcome.is_error ? absl::StrCat("Error: ", outcome.text) : outcome.text}});
  }

 private:
  void Say(absl::string_view role, absl::string_view text) {
    messages_.push_back({{"role", role}, {"content", text}});
  }

  const ApiEndpoint endpoint_;
  Json messages_ = Json::array(), tools_ = Json::array();
};

}  // namespace

std::unique_ptr<ApiDialect> MakeOpenAiDialect(const ApiEndpoint& endpoint,
                                              absl::string_view prompt) {
  return std::make_unique<OpenAiDialect>(endpoint, prompt);
}

}  // namespace berth
