#include "runtime/agent/mcp_client.h"

#include <stdint.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/http_json.h"
#include "runtime/agent/json_line.h"

namespace berth {
namespace {

using agent_json::Bool;
using agent_json::Get;
using agent_json::Json;
using agent_json::Text;

constexpr char kVersion[] = "2025-06-18";
constexpr int kMaxPages = 100;
constexpr absl::Duration kNoticeTimeout = absl::Seconds(10);

bool Answers(const Json& message, int64_t id) {
  const Json& theirs = Get(message, "id");
  return theirs.is_number_integer() && theirs.get<int64_t>() == id &&
         (message.contains("result") || message.contains("error"));
}

// The data of each whole event, in order.
std::vector<std::string> StreamEvents(absl::string_view body) {
  std::vector<std::string> events;
  std::string data;
  bool any = false;
  while (true) {
    const size_t end = body.find('\n');
    if (end == absl::string_view::npos) return events;
    absl::string_view line = body.substr(0, end);
    body.remove_prefix(end + 1);
    if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
    if (line.empty()) {
      if (any) events.push_back(std::exchange(data, ""));
      any = false;
    } else if (absl::StartsWith(line, "data:")) {
      line.remove_prefix(5);
      if (absl::StartsWith(line, " ")) line.remove_prefix(1);
      absl::StrAppend(&data, any ? "\n" : "", line);
      any = true;
    }
  }
}

}  // namespace

std::optional<Json> FindRpcAnswer(const HttpReply& reply, int64_t id) {
  if (!absl::StartsWithIgnoreCase(reply.content_type, "text/event-stream")) {
    Json message = agent_json::Parse(reply.body);
    // A batch may be answered by an array.
    if (message.is_array()) {
      for (Json& each : message) {
        if (Answers(each, id)) return std::move(each);
      }
      return std::nullopt;
    }
    return Answers(message, id) ? std::optional<Json>(std::move(message)) : std::nullopt;
  }
  for (const std::string& event : StreamEvents(reply.body)) {
    Json message = agent_json::Parse(event);
    if (Answers(message, id)) return message;
  }
  return std::nullopt;
}

HttpRequest McpClient::Request(Json message) const {
  HttpRequest request{.url = url_, .body = agent_json::Dump(message)};
  request.headers = {{"Accept", "application/json, text/event-stream"}};
  if (!session_.empty()) request.headers.emplace_back("Mcp-Session-Id", session_);
  if (!version_.empty()) request.headers.emplace_back("MCP-Protocol-Version", version_);
  return request;
}

absl::StatusOr<Json> McpClient::Call(absl::string_view method, Json params, bool repeatable,
                                     absl::Time deadline) {
  const int64_t id = next_id_++;
  HttpRequest request =
      Request({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  request.repeatable = repeatable;
  std::optional<Json> answer;
  request.take = [&](const HttpReply& reply) {
    answer = FindRpcAnswer(reply, id);
    return answer.has_value()
               ? absl::OkStatus()
               : absl::DataLossError(absl::StrCat("MCP ", method, ": no answer to it in the body"));
  };
  request.enough = [&](const HttpReply& reply) {
    // A server may keep its stream open after the answer.
    return absl::StartsWithIgnoreCase(reply.content_type, "text/event-stream") &&
           absl::EndsWith(reply.body, "\n") && FindRpcAnswer(reply, id).has_value();
  };
  ABSL_ASSIGN_OR_RETURN(const HttpReply reply, http_->Post(request, deadline));
  if (session_.empty()) session_ = reply.session;
  if (const Json& error = Get(*answer, "error"); !error.is_null()) {
    const bool unknown = error.is_object() && Get(error, "code") == -32601;
    return absl::Status(unknown ? absl::StatusCode::kUnimplemented : absl::StatusCode::kAborted,
                        absl::StrCat("MCP ", method, ": ", Text(error, "message")));
  }
  return Get(*answer, "result");
}

absl::Status McpClient::Notify(absl::string_view method, absl::Time deadline) {
  HttpRequest request = Request({{"jsonrpc", "2.0"}, {"method", method}});
  // There is nothing to hear, whatever a server says to it, or does not.
  request.repeatable = false;
  request.enough = [](const HttpReply&) { return true; };
  return http_->Post(request, std::min(deadline, absl::Now() + kNoticeTimeout)).status();
}

absl::Status McpClient::Hello(absl::Time deadline) {
  if (greeted_) return absl::OkStatus();
  const absl::StatusOr<Json> hello = Call("initialize",
                                          {{"protocolVersion", kVersion},
                                           {"capabilities", Json::object()},
                                           {"clientInfo", {{"name", "berth"}, {"version", "1"}}}},
                                          /*repeatable=*/true, deadline);
  // A plain server knows only its tools, and says so in one way or another.
  if (absl::IsUnimplemented(hello.status()) || absl::IsAborted(hello.status()) ||
      absl::IsInvalidArgument(hello.status())) {
    greeted_ = true;
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(hello.status());
  version_ = Text(*hello, "protocolVersion");
  greeted_ = true;
  // Plain servers may not know it; it asks for no answer.
  const absl::Status told = Notify("notifications/initialized", deadline);
  return absl::IsCancelled(told) ? told : absl::OkStatus();
}

absl::StatusOr<std::vector<McpTool>> McpClient::ListTools(absl::Time deadline) {
  ABSL_RETURN_IF_ERROR(Hello(deadline));
  std::vector<McpTool> tools;
  std::string cursor;
  for (int page = 0; page < kMaxPages; ++page) {
    Json params = Json::object();
    if (!cursor.empty()) params["cursor"] = cursor;
    ABSL_ASSIGN_OR_RETURN(const Json result,
                          Call("tools/list", std::move(params), /*repeatable=*/true, deadline));
    if (const Json& list = Get(result, "tools"); list.is_array()) {
      for (const Json& tool : list) {
        if (Text(tool, "name").empty()) continue;
        const Json& schema = Get(tool, "inputSchema");
        tools.push_back({.name = std::string(Text(tool, "name")),
                         .description = std::string(Text(tool, "description")),
                         .schema = schema.is_object()
                                       ? schema
                                       : Json{{"type", "object"}, {"properties", Json::object()}}});
      }
    }
    cursor = Text(result, "nextCursor");
    if (cursor.empty()) break;
  }
  return tools;
}

absl::StatusOr<McpOutcome> McpClient::CallTool(absl::string_view name, const Json& arguments,
                                               absl::Time deadline) {
  ABSL_RETURN_IF_ERROR(Hello(deadline));
  const absl::StatusOr<Json> result = Call("tools/call", {{"name", name}, {"arguments", arguments}},
                                           /*repeatable=*/false, deadline);
  if (absl::IsAborted(result.status()) || absl::IsUnimplemented(result.status())) {
    return McpOutcome{std::string(result.status().message()), /*is_error=*/true};
  }
  ABSL_RETURN_IF_ERROR(result.status());
  McpOutcome outcome{agent_json::ContentText(Get(*result, "content")), Bool(*result, "isError")};
  if (outcome.text.empty() && result->contains("structuredContent")) {
    outcome.text = agent_json::Dump(Get(*result, "structuredContent"));
  }
  return outcome;
}

}  // namespace berth
