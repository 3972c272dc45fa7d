// Scenario 25: API loops against real HTTP servers, their tools on an MCP server.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"
#include "tests/agent/agent_test.h"
#include "tests/agent/http_server.h"

namespace berth {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Json = nlohmann::json;
using Kind = AgentEvent::Kind;

constexpr char kOpenAi[] = "/v1/chat/completions";
constexpr char kGemini[] = "/v1beta/models/m:generateContent";

Json OpenAiCall(const std::string& name, const std::string& arguments) {
  return {{"id", "chatcmpl-1"},
          {"choices",
           {{{"message",
              {{"role", "assistant"},
               {"content", nullptr},
               {"tool_calls",
                {{{"id", "call-1"},
                  {"type", "function"},
                  {"function", {{"name", name}, {"arguments", arguments}}}}}}}},
             {"finish_reason", "tool_calls"}}}},
          {"usage",
           {{"prompt_tokens", 100},
            {"completion_tokens", 10},
            {"prompt_tokens_details", {{"cached_tokens", 60}}}}}};
}

Json OpenAiText(const std::string& text) {
  return {{"id", "chatcmpl-2"},
          {"choices", {{{"message", {{"role", "assistant"}, {"content", text}}}}}},
          {"usage", {{"prompt_tokens", 130}, {"completion_tokens", 5}}}};
}

class ApiLoop : public AgentTest {
 protected:
  void SetUp() override {
    AgentTest::SetUp();
    mcp_.OnPost("/mcp", McpHandler("json"));
    mcp_.Listen();
  }
  AgentContext Api(const std::string& agent) {
    AgentContext context;
    context.agent = agent;
    context.prompt = "what is 2 + 40?";
    context.place.name = "ask";
    context.state_dir = dir_;
    context.mcp_port = static_cast<uint16_t>(mcp_.port());
    context.may_start_thread = true;
    context.api = {.url = model_.Url(agent == "openai-api" ? "/v1" : "/v1beta"),
                   .model = "m",
                   .key = "key-1234567",
                   .system = "be brief"};
    context.http.first_pause = absl::Milliseconds(1);
    return context;
  }
  void Answer(const std::string& path, HttpServer::Handler handler) {
    model_.OnPost(path, std::move(handler));
    model_.Listen();
  }
  static void Send(httplib::Response& response, const Json& json) {
    response.set_content(json.dump(), "application/json");
  }

  HttpServer model_, mcp_;
};

TEST_F(ApiLoop, OfOpenAiCallsToolsUntilTheModelNeedsNone) {
  Answer(kOpenAi, [](int n, const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.get_header_value("Authorization"), "Bearer key-1234567");
    Send(response, n == 0 ? OpenAiCall("add", R"({"a":2,"b":40})") : OpenAiText("42"));
  });
  AgentContext context = Api("openai-api");
  context.budget.prices = {.input = 1e6, .output = 1e6};
  auto run = Start(context);
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.status, AgentStatus::kCompleted) << result.detail;
  EXPECT_EQ(result.text, "42");
  EXPECT_EQ(result.turns, 2);
  EXPECT_EQ(result.usage, (Usage{.input = 170, .output = 15, .cache_read = 60, .cost_usd = 185}));
  EXPECT_EQ(Only(events, Kind::kToolCall)[0].tool_name, "add");
  EXPECT_EQ(Only(events, Kind::kToolResult)[0].text, "42");
  const std::vector<Json> asked = model_.Bodies();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0]["messages"][0]["content"], "be brief");
  EXPECT_EQ(asked[0]["tools"][0]["function"]["name"], "add");
  EXPECT_EQ(asked[1]["messages"][3]["role"], "tool");
  EXPECT_EQ(asked[1]["messages"][3]["tool_call_id"], "call-1");
  EXPECT_EQ(asked[1]["messages"][3]["content"], "42");
  EXPECT_EQ(Bytes(absl::StrCat(dir_, "/agents/", run->run_id(), ".jsonl")).find("key-1234567"),
            std::string::npos);
}

TEST_F(ApiLoop, OfGeminiCallsToolsUntilTheModelNeedsNone) {
  Answer(kGemini, [](int n, const httplib::Request& request, httplib::Response& response) {
    EXPECT_EQ(request.get_header_value("x-goog-api-key"), "key-1234567");
    const Json call = {{"functionCall", {{"name", "add"}, {"args", {{"a", 2}, {"b", 40}}}}},
                       {"thoughtSignature", "sig"}};
    const Json parts = n == 0 ? Json{{{"text", "hm"}, {"thought", true}}, call, call}
                              : Json::array({Json{{"text", "It is "}}, Json{{"text", "42."}}});
    Send(response, {{"candidates", {{{"content", {{"role", "model"}, {"parts", parts}}}}}},
                    {"responseId", absl::StrCat("r", n)},
                    {"usageMetadata",
                     {{"promptTokenCount", 50},
                      {"cachedContentTokenCount", 20},
                      {"candidatesTokenCount", 7},
                      {"thoughtsTokenCount", 3}}}});
  });
  auto run = Start(Api("gemini-api"));
  const Events events = Finish(run.get());
  const AgentResult result = run->result();
  EXPECT_EQ(result.status, AgentStatus::kCompleted) << result.detail;
  EXPECT_EQ(result.text, "It is 42.");
  EXPECT_EQ(result.turns, 2);
  EXPECT_EQ(result.usage, (Usage{.input = 60, .output = 20, .cache_read = 40}));
  EXPECT_THAT(Only(events, Kind::kToolResult), SizeIs(2));
  const std::vector<Json> asked = model_.Bodies();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0]["tools"][0]["functionDeclarations"][0]["name"], "add");
  EXPECT_EQ(asked[0]["systemInstruction"]["parts"][0]["text"], "be brief");
  EXPECT_EQ(asked[1]["contents"][1]["parts"][1]["thoughtSignature"], "sig");
  EXPECT_THAT(asked[1]["contents"][2]["parts"], SizeIs(2)) << "both outcomes in one message";
  EXPECT_EQ(asked[1]["contents"][2]["parts"][0]["functionResponse"]["response"]["result"], "42");
}

TEST_F(ApiLoop, TellsTheModelWhatItGotWrong) {
  Answer(kOpenAi, [](int n, const httplib::Request&, httplib::Response& response) {
    if (n == 0) return Send(response, OpenAiCall("subtract", "{}"));
    if (n == 1) return Send(response, OpenAiCall("add", "{\"a\":"));
    if (n == 2) return Send(response, OpenAiCall("fail", ""));
    Send(response, OpenAiText("I give up"));
  });
  auto run = Start(Api("openai-api"));
  const Events events = Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted);
  const Events results = Only(events, Kind::kToolResult);
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_THAT(results[0].text, HasSubstr("no tool 'subtract'"));
  EXPECT_THAT(results[1].text, HasSubstr("not a JSON object"));
  EXPECT_EQ(results[2].text, "it failed");
  for (const AgentEvent& event : results) EXPECT_TRUE(event.is_error);
}

// What holds for both APIs.
class EachApi : public ApiLoop, public testing::WithParamInterface<std::string> {
 protected:
  std::string Path() const { return GetParam() == "openai-api" ? kOpenAi : kGemini; }
  static Json Text(const std::string& text) {
    if (GetParam() == "openai-api") return OpenAiText(text);
    return {{"candidates", {{{"content", {{"role", "model"}, {"parts", {{{"text", text}}}}}}}}}};
  }
};
INSTANTIATE_TEST_SUITE_P(Both, EachApi, testing::Values("openai-api", "gemini-api"),
                         [](const auto& param) { return param.param.substr(0, 6); });

TEST_P(EachApi, RidesOutErrorsThatPass) {
  Answer(Path(), [this](int n, const httplib::Request&, httplib::Response& response) {
    switch (n) {
      case 0:
        response.status = 429;
        response.set_header("Retry-After", "1");
        return;
      case 1:
        response.status = 500;
        return;
      case 2:
        return response.set_content("{\"choices\":", "application/json");
      case 3:  // cut
        return response.set_content_provider(1000, "application/json",
                                             [](size_t, size_t, httplib::DataSink& sink) {
                                               sink.write("{", 1);
                                               return false;
                                             });
      case 4:  // too slow
        return model_.Hold();
      default:
        Send(response, Text("fine"));
    }
  });
  AgentContext context = Api(GetParam());
  context.http.max_retries = 5;
  context.http.request_timeout = absl::Seconds(2);
  auto run = Start(context);
  const Events events = Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted) << run->result().detail;
  EXPECT_EQ(run->result().text, "fine");
  EXPECT_EQ(model_.requests(), 6u);
  const Events limits = Only(events, Kind::kRateLimit);
  ASSERT_THAT(limits, SizeIs(1));
  EXPECT_TRUE(limits[0].hard);
  EXPECT_GT(limits[0].resets_at, limits[0].time);
}

TEST_P(EachApi, IsStoppedInTheMiddleOfARequest) {
  Answer(Path(), [this](int, const httplib::Request&, httplib::Response&) { model_.Hold(); });
  auto run = Start(Api(GetParam()));
  model_.AwaitHeld();
  run->Stop();
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kStopped);
  EXPECT_EQ(run->status(), AgentStatus::kFailed);
}

// The forms of MCP servers: streamable HTTP with JSON answers, with answers on an event stream,
// and a plain JSON-RPC POST.
class EachMcpServer : public ApiLoop, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Forms, EachMcpServer, testing::Values("json", "sse", "plain"),
                         [](const auto& param) { return param.param; });

TEST_P(EachMcpServer, GivesTheModelItsTools) {
  HttpServer mcp;
  mcp.OnPost("/mcp", McpHandler(GetParam()));
  mcp.Listen();
  Answer(kOpenAi, [](int n, const httplib::Request&, httplib::Response& response) {
    Send(response, n == 0 ? OpenAiCall("add", R"({"a":2,"b":40})") : OpenAiText("42"));
  });
  AgentContext context = Api("openai-api");
  context.mcp_port = static_cast<uint16_t>(mcp.port());
  auto run = Start(context);
  const Events events = Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted) << run->result().detail;
  ASSERT_THAT(Only(events, Kind::kToolResult), SizeIs(1));
  EXPECT_EQ(Only(events, Kind::kToolResult)[0].text, "42");
}

TEST_F(ApiLoop, IsStoppedInTheMiddleOfAToolCall) {
  HttpServer mcp;
  mcp.OnPost("/mcp", [&](int n, const httplib::Request& request, httplib::Response& response) {
    if (Json::parse(request.body)["method"] == "tools/call") return mcp.Hold();
    McpHandler("json")(n, request, response);
  });
  mcp.Listen();
  Answer(kOpenAi, [](int, const httplib::Request&, httplib::Response& response) {
    Send(response, OpenAiCall("add", "{}"));
  });
  AgentContext context = Api("openai-api");
  context.mcp_port = static_cast<uint16_t>(mcp.port());
  auto run = Start(context);
  mcp.AwaitHeld();
  run->Stop();
  const Events events = Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kStopped);
  EXPECT_THAT(Only(events, Kind::kToolResult), SizeIs(0)) << "nobody knows what came of it";
}

TEST_F(ApiLoop, GivesUpOnErrorsThatDoNot) {
  Answer(kGemini,
         [](int, const httplib::Request&, httplib::Response& response) { response.status = 503; });
  AgentContext context = Api("gemini-api");
  context.http.max_retries = 2;
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kError);
  EXPECT_THAT(run->result().detail, HasSubstr("503"));
  EXPECT_EQ(model_.requests(), 3u);
}

TEST_F(ApiLoop, EndsWithItsObjectInTheMiddleOfARequest) {
  Answer(kOpenAi, [this](int, const httplib::Request&, httplib::Response&) { model_.Hold(); });
  auto run = Start(Api("openai-api"));
  model_.AwaitHeld();
  run.reset();
}

TEST_F(ApiLoop, KeepsItsBudgets) {
  Answer(kOpenAi, [](int, const httplib::Request&, httplib::Response& response) {
    Send(response, OpenAiCall("add", "{}"));
  });
  AgentContext context = Api("openai-api");
  context.budget.turns = 3;
  auto turns = Start(context);
  Finish(turns.get());
  EXPECT_EQ(turns->result().reason, AgentEnd::kTurns);
  EXPECT_EQ(model_.requests(), 3u);
  context.budget = {.cost_usd = 1, .prices = {.output = 1e6}};
  auto cost = Start(context);
  Finish(cost.get());
  EXPECT_EQ(cost->result().reason, AgentEnd::kCost);
}

TEST_F(ApiLoop, EndsAtItsWallBudgetInTheMiddleOfARequest) {
  Answer(kOpenAi, [this](int, const httplib::Request&, httplib::Response&) { model_.Hold(); });
  AgentContext context = Api("openai-api");
  context.budget.wall = absl::Seconds(1);
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->result().reason, AgentEnd::kWall);
}

TEST_F(ApiLoop, StartsNoThreadUnasked) {
  AgentContext context = Api("openai-api");
  context.may_start_thread = false;
  EXPECT_THAT(AgentRun::Start(runtime_.get(), context),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace berth
