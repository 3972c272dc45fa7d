// Gemini: POST <url>/models/<model>:generateContent, with function calling.
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

using agent_json::Bool;
using agent_json::Count;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

class GeminiDialect final : public ApiDialect {
 public:
  GeminiDialect(const ApiEndpoint& endpoint, absl::string_view prompt) : endpoint_(endpoint) {
    contents_.push_back({{"role", "user"}, {"parts", Json::array({Json{{"text", prompt}}})}});
  }

  std::string Url() const override {
    return absl::StrCat(absl::StripSuffix(endpoint_.url, "/"), "/models/", endpoint_.model,
                        ":generateContent");
  }
  std::vector<std::pair<std::string, std::string>> Headers() const override {
    if (endpoint_.key.empty()) return {};
    return {{"x-goog-api-key", endpoint_.key}};
  }
  void SetTools(const std::vector<McpTool>& tools) override {
    for (const McpTool& tool : tools) {
      tools_.push_back({{"name", tool.name},
                        {"description", tool.description},
                        {"parametersJsonSchema", tool.schema}});
    }
  }
  Json Request() const override {
    Json request = {{"contents", contents_}};
    if (!endpoint_.system.empty()) {
      request["systemInstruction"] = {{"parts", Json::array({Json{{"text", endpoint_.system}}})}};
    }
    if (!tools_.empty()) {
      request["tools"] = Json::array({Json{{"functionDeclarations", tools_}}});
    }
    return request;
  }

  absl::StatusOr<ApiTurn> TakeAnswer(const Json& answer) override {
    if (const absl::string_view why = Text(Get(answer, "promptFeedback"), "blockReason");
        !why.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("the prompt is blocked: ", why));
    }
    const Json& candidates = Get(answer, "candidates");
    if (!candidates.is_array() || candidates.empty()) {
      return absl::DataLossError("generateContent: the answer has no candidates");
    }
    const Json& content = Get(candidates[0], "content");
    const Json& parts = Get(content, "parts");
    ApiTurn turn;
    turn.message_id = Text(answer, "responseId");
    if (parts.is_array()) {
      for (const Json& part : parts) TakePart(part, &turn);
    } else if (const absl::string_view why = Text(candidates[0], "finishReason");
               why != "STOP" && why != "MAX_TOKENS") {
      return absl::FailedPreconditionError(absl::StrCat("the model stopped: ", why));
    }
    const Json& usage = Get(answer, "usageMetadata");
    turn.usage.cache_read = Count(usage, "cachedContentTokenCount");
    turn.usage.input =
        std::max<int64_t>(Count(usage, "promptTokenCount") - turn.usage.cache_read, 0);
    turn.usage.output = Count(usage, "candidatesTokenCount") + Count(usage, "thoughtsTokenCount");
    // As it came: parts carry signatures that must be sent back.
    if (content.is_object()) contents_.push_back(content);
    taking_outcomes_ = false;
    return turn;
  }

  // All outcomes of one answer are one message.
  void AddOutcome(const ApiCall& call, const McpOutcome& outcome) override {
    if (!taking_outcomes_) {
      taking_outcomes_ = true;
      contents_.push_back({{"role", "user"}, {"parts", Json::array()}});
    }
    Json response = {{"name", call.name},
                     {"response", {{outcome.is_error ? "error" : "result", outcome.text}}}};
    if (!call.id.empty()) response["id"] = call.id;
    contents_.back()["parts"].push_back({{"functionResponse", std::move(response)}});
  }

 private:
  static void TakePart(const Json& part, ApiTurn* turn) {
    if (const Json& call = Get(part, "functionCall"); call.is_object()) {
      const Json& arguments = Get(call, "args");
      turn->calls.push_back({std::string(Text(call, "id")), std::string(Text(call, "name")),
                             arguments.is_null() ? Json::object() : arguments});
    } else if (!Bool(part, "thought")) {
      absl::StrAppend(&turn->text, Text(part, "text"));
    }
  }

  const ApiEndpoint endpoint_;
  Json contents_ = Json::array(), tools_ = Json::array();
  bool taking_outcomes_ = false;  // the last of contents_ is for them
};

}  // namespace

std::unique_ptr<ApiDialect> MakeGeminiDialect(const ApiEndpoint& endpoint,
                                              absl::string_view prompt) {
  return std::make_unique<GeminiDialect>(endpoint, prompt);
}

}  // namespace berth
