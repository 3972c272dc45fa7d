// RunApiLoop: an agent that is no program: a model behind an HTTP API, and tools of an MCP server.
//
// Asks the model, calls the tools it wants, tells it what came of that, and so on until it wants
// none. Blocks its caller; AgentRun runs it on a thread of its own if the host allows one. An API
// is a dialect: openai_loop.cc and gemini_loop.cc.
#ifndef BERTH_RUNTIME_AGENT_API_LOOP_H_
#define BERTH_RUNTIME_AGENT_API_LOOP_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/api_endpoint.h"
#include "runtime/agent/canceller.h"
#include "runtime/agent/event.h"
#include "runtime/agent/http_json.h"
#include "runtime/agent/mcp_client.h"
#include "runtime/agent/usage.h"

namespace berth {

struct ApiCall {
  std::string id, name;
  nlohmann::json arguments;  // discarded: what the model wrote is not JSON
};

// One answer of the model.
struct ApiTurn {
  std::string message_id, text;
  std::vector<ApiCall> calls = {};
  Usage usage = {};
};

// How one API is spoken to. Holds the conversation.
class ApiDialect {
 public:
  virtual ~ApiDialect() = default;
  virtual std::string Url() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> Headers() const = 0;
  virtual void SetTools(const std::vector<McpTool>& tools) = 0;
  // Asks for an answer to the conversation so far.
  virtual nlohmann::json Request() const = 0;
  // Adds the answer to the conversation. DataLoss if it is none; FailedPrecondition if the model
  // will not answer.
  virtual absl::StatusOr<ApiTurn> TakeAnswer(const nlohmann::json& answer) = 0;
  virtual void AddOutcome(const ApiCall& call, const McpOutcome& outcome) = 0;
};

std::unique_ptr<ApiDialect> MakeOpenAiDialect(const ApiEndpoint& endpoint,
                                              absl::string_view prompt);
std::unique_ptr<ApiDialect> MakeGeminiDialect(const ApiEndpoint& endpoint,
                                              absl::string_view prompt);
// By the agent's name: "openai-api", "gemini-api"; null if it is neither.
std::unique_ptr<ApiDialect> MakeApiDialect(absl::string_view agent, const ApiEndpoint& endpoint,
                                           absl::string_view prompt);

struct ApiLoopOptions {
  HttpOptions http = {};
  std::string mcp_url = {};  // "": no tools
  std::string model = {};
  absl::Time deadline = absl::InfiniteFuture();
};

// Events go to `sink` as they happen, the result last. Returns what went wrong if there was none,
// or if `sink` returns false, which ends it (Aborted).
absl::Status RunApiLoop(ApiDialect* dialect, const ApiLoopOptions& options, Canceller* canceller,
                        const std::function<bool(AgentEvent)>& sink);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_API_LOOP_H_
