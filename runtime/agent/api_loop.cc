#include "runtime/agent/api_loop.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/api_endpoint.h"
#include "runtime/agent/canceller.h"
#include "runtime/agent/event.h"
#include "runtime/agent/http_json.h"
#include "runtime/agent/json_line.h"
#include "runtime/agent/mcp_client.h"

namespace berth {
namespace {

using agent_json::Json;

class Loop {
 public:
  Loop(ApiDialect* dialect, const ApiLoopOptions& options, Canceller* canceller,
       const std::function<bool(AgentEvent)>& sink)
      : dialect_(dialect),
        options_(options),
        http_(options.http, canceller),
        mcp_(&http_, options.mcp_url),
        sink_(sink) {}

  absl::Status Run() {
    AgentEvent started;
    started.kind = AgentEvent::Kind::kStarted;
    started.model = options_.model;
    ABSL_RETURN_IF_ERROR(Tell(std::move(started)));
    if (!options_.mcp_url.empty()) {
      ABSL_ASSIGN_OR_RETURN(const std::vector<McpTool> tools, mcp_.ListTools(options_.deadline));
      dialect_->SetTools(tools);
      for (const McpTool& tool : tools) known_.insert(tool.name);
    }
    for (int64_t turns = 1;; ++turns) {
      ABSL_ASSIGN_OR_RETURN(const ApiTurn turn, Ask());
      ABSL_RETURN_IF_ERROR(TellTurn(turn));
      if (turn.calls.empty()) {
        AgentEvent result;
        result.kind = AgentEvent::Kind::kResult;
        result.text = turn.text;
        result.turns = turns;
        return Tell(std::move(result));
      }
      for (const ApiCall& call : turn.calls) ABSL_RETURN_IF_ERROR(CallTool(call));
    }
  }

 private:
  absl::Status Tell(AgentEvent event) {
    return sink_(std::move(event)) ? absl::OkStatus() : absl::AbortedError("the run was ended");
  }

  absl::StatusOr<ApiTurn> Ask() {
    HttpRequest request{.url = dialect_->Url(),
                        .headers = dialect_->Headers(),
                        .body = agent_json::Dump(dialect_->Request())};
    ApiTurn turn;
    request.take = [&](const HttpReply& reply) -> absl::Status {
      const Json answer = agent_json::Parse(reply.body);
      if (!answer.is_object()) return absl::DataLossError("the answer is not JSON, or cut");
      raw_ = reply.body;
      ABSL_ASSIGN_OR_RETURN(turn, dialect_->TakeAnswer(answer));
      return absl::OkStatus();
    };
    const auto retry = [&](const absl::Status& why, absl::Time until) {
      AgentEvent event;
      event.kind =
          absl::IsResourceExhausted(why) ? AgentEvent::Kind::kRateLimit : AgentEvent::Kind::kRaw;
      event.hard = absl::IsResourceExhausted(why);
      event.resets_at = until;
      event.text = why.message();
      (void)sink_(std::move(event));
    };
    ABSL_RETURN_IF_ERROR(http_.Post(request, options_.deadline, retry).status());
    return turn;
  }

  absl::Status TellTurn(const ApiTurn& turn) {
    AgentEvent usage;
    usage.kind = AgentEvent::Kind::kUsage;
    usage.message_id = turn.message_id;
    usage.usage = turn.usage;
    usage.new_turn = true;
    usage.raw = std::exchange(raw_, "");
    ABSL_RETURN_IF_ERROR(Tell(std::move(usage)));
    if (!turn.text.empty()) {
      AgentEvent text;
      text.kind = AgentEvent::Kind::kText;
      text.message_id = turn.message_id;
      text.text = turn.text;
      ABSL_RETURN_IF_ERROR(Tell(std::move(text)));
    }
    for (const ApiCall& call : turn.calls) {
      AgentEvent event;
      event.kind = AgentEvent::Kind::kToolCall;
      event.message_id = turn.message_id;
      event.tool_id = call.id;
      event.tool_name = call.name;
      event.text = call.arguments.is_discarded() ? "" : agent_json::Dump(call.arguments);
      ABSL_RETURN_IF_ERROR(Tell(std::move(event)));
    }
    return absl::OkStatus();
  }

  // What the model got wrong is for the model to mend; what the server did is too, as long as it
  // answers.
  absl::Status CallTool(const ApiCall& call) {
    McpOutcome outcome;
    if (!known_.contains(call.name)) {
      outcome = {absl::StrCat("there is no tool '", call.name, "'"), /*is_error=*/true};
    } else if (!call.arguments.is_object()) {
      outcome = {"the arguments are not a JSON object", /*is_error=*/true};
    } else {
      const absl::StatusOr<McpOutcome> told =
          mcp_.CallTool(call.name, call.arguments, options_.deadline);
      if (absl::IsCancelled(told.status()) || absl::IsDeadlineExceeded(told.status())) {
        return told.status();
      }
      outcome = told.ok() ? *told : McpOutcome{std::string(told.status().message()), true};
    }
    AgentEvent event;
    event.kind = AgentEvent::Kind::kToolResult;
    event.tool_id = call.id;
    event.tool_name = call.name;
    event.text = outcome.text;
    event.is_error = outcome.is_error;
    ABSL_RETURN_IF_ERROR(Tell(std::move(event)));
    dialect_->AddOutcome(call, outcome);
    return absl::OkStatus();
  }

  ApiDialect* const dialect_;
  const ApiLoopOptions options_;
  HttpJson http_;
  McpClient mcp_;
  const std::function<bool(AgentEvent)>& sink_;
  absl::flat_hash_set<std::string> known_;
  std::string raw_;
};

}  // namespace

std::unique_ptr<ApiDialect> MakeApiDialect(absl::string_view agent, const ApiEndpoint& endpoint,
                                           absl::string_view prompt) {
  if (agent == "openai-api") return MakeOpenAiDialect(endpoint, prompt);
  if (agent == "gemini-api") return MakeGeminiDialect(endpoint, prompt);
  return nullptr;
}

absl::Status RunApiLoop(ApiDialect* dialect, const ApiLoopOptions& options, Canceller* canceller,
                        const std::function<bool(AgentEvent)>& sink) {
  return Loop(dialect, options, canceller, sink).Run();
}

}  // namespace berth
