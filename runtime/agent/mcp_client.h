// McpClient: the tools of an MCP server over HTTP: the streamable form, whose answers are JSON or
// an event stream, and the plain form of servers that take a JSON-RPC POST and know no more.
//
//   ABSL_ASSIGN_OR_RETURN(auto tools, client.ListTools(deadline));
//   ABSL_ASSIGN_OR_RETURN(auto outcome, client.CallTool("read", {{"path", "a.c"}}, deadline));
//
// Blocks its caller; one thread at a time. Listing is retried; a tool is never called twice.
#ifndef BERTH_RUNTIME_AGENT_MCP_CLIENT_H_
#define BERTH_RUNTIME_AGENT_MCP_CLIENT_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/http_json.h"

namespace berth {

struct McpTool {
  std::string name = {};
  std::string description = {};
  nlohmann::json schema = {};  // JSON Schema of the arguments
};

struct McpOutcome {
  std::string text = {};
  bool is_error = false;
};

class McpClient {
 public:
  // `http` must outlive it.
  McpClient(HttpJson* http, std::string url) : http_(http), url_(std::move(url)) {}

  // Says hello first, if that was not done.
  absl::StatusOr<std::vector<McpTool>> ListTools(absl::Time deadline);
  // A tool that failed is an outcome; a server that failed is an error.
  absl::StatusOr<McpOutcome> CallTool(absl::string_view name, const nlohmann::json& arguments,
                                      absl::Time deadline);

 private:
  absl::Status Hello(absl::Time deadline);
  // The member `result` of the answer.
  absl::StatusOr<nlohmann::json> Call(absl::string_view method, nlohmann::json params,
                                      bool repeatable, absl::Time deadline);
  absl::Status Notify(absl::string_view method, absl::Time deadline);
  HttpRequest Request(nlohmann::json message) const;

  HttpJson* const http_;
  const std::string url_;
  std::string session_, version_;
  bool greeted_ = false;
  int64_t next_id_ = 1;
};

// The JSON-RPC answer with this id in a body of either kind; nothing if it is not (yet) there.
std::optional<nlohmann::json> FindRpcAnswer(const HttpReply& reply, int64_t id);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_MCP_CLIENT_H_
