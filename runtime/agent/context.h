// AgentContext: what to run, where, on which prompt, and how far. Plain data.
#ifndef BERTH_RUNTIME_AGENT_CONTEXT_H_
#define BERTH_RUNTIME_AGENT_CONTEXT_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/agent/api_endpoint.h"
#include "runtime/agent/http_json.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/subscribers.h"
#include "runtime/agent/usage.h"
#include "runtime/spec.h"

namespace berth {

struct AgentDriver;

// What a run may use up; 0 and infinite are no limit. The wall limit also ends a run that waits for
// a rate limit.
struct AgentBudget {
  int64_t turns = 0;
  double cost_usd = 0;
  absl::Duration wall = absl::InfiniteDuration();
  // For agents that do not tell what they cost.
  Prices prices = {};
};

struct AgentContext {
  // The driver: "claude", "codex", "gemini"; or an API loop: "openai-api", "gemini-api".
  std::string agent = {};
  // One of the caller's own, instead of that; it outlives the run.
  const AgentDriver* driver = nullptr;
  std::string story_id = {};    // the caller's own names, for the log and the agent's environment
  std::string agent_name = {};  // ($BERTH_STORY, $BERTH_AGENT)

  std::string command = {};            // "" is the driver's program
  std::vector<std::string> args = {};  // the caller's own, after the driver's
  // Goes through standard input. Needed, but for a resumed session: that goes on by itself.
  std::string prompt = {};
  // The agent's own session to go on with; if that is refused, a fresh one is started, once, on
  // `cold_prompt`, or on `prompt` if that is "".
  std::string resume = {};
  std::string cold_prompt = {};
  uint16_t mcp_port = 0;  // of an MCP server on loopback, for the agent to use; 0 is none

  // Where it runs: name, backend, cwd, env, policy, container, limits… Command, terminal and
  // durability are the run's own business. name "": one is made up.
  SessionSpec place = {};

  // Of API loops, which run in this process: they have no place but a name, no command and nothing
  // to resume. They block, so they need a thread, which is never started unasked.
  ApiEndpoint api = {};
  HttpOptions http = {};
  bool may_start_thread = false;

  absl::Duration inactivity = absl::Minutes(10);  // of API loops: the longest request
  AgentBudget budget = {};
  // A process that goes on after its result is ended after this.
  absl::Duration result_grace = absl::Seconds(10);
  // What is ended gets TERM, and KILL after this.
  absl::Duration stop_grace = absl::Seconds(5);
  // A reset further away than this is taken for this.
  absl::Duration longest_rate_limit = absl::Hours(24 * 8);
  bool stop_when_waiting = false;  // waiting for a person is the end
  // A longer line is cut there; its event says so.
  size_t max_line = size_t{256} << 20;

  std::string state_dir = {};  // of the log; as the Runtime's
  RedactOptions redact = {};   // besides the values of variables named like secrets
  EventHub::Options fan_out = {};
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_CONTEXT_H_
