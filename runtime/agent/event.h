// AgentEvent: one thing that an agent did, in the same words for every agent.
//
// Plain data. One line of an agent's output may give several events (a message with text and two
// tool calls); the first of them carries the line itself in `raw`, so nothing is lost by
// normalising. What a driver does not know is kRaw and nothing but that.
#ifndef BERTH_RUNTIME_AGENT_EVENT_H_
#define BERTH_RUNTIME_AGENT_EVENT_H_

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/usage.h"

namespace berth {

struct AgentEvent {
  // The numbers are part of the C ABI: they stay.
  enum class Kind : uint8_t {
    kRaw = 0,         // `raw`: a line that means nothing to the driver, or of standard error
    kStarted = 1,     // `session_id`, `model`
    kText = 2,        // `text` of the agent's
    kToolCall = 3,    // `tool_id`, `tool_name`, `text`: its arguments as JSON
    kToolResult = 4,  // `tool_id`, `text`, `is_error`
    kUsage = 5,       // `usage` of the message `message_id` so far
    kRateLimit = 6,   // `hard`, `resets_at`, `text`
    kWaiting = 7,     // for a person: `text` is what it asks
    kResult = 8,      // the end of its work: `text`, `is_error`, `usage`, `turns`, `session_id`
  };
  Kind kind = Kind::kRaw;
  int64_t sequence = 0;  // 1, 2, 3, … within a run
  absl::Time time = absl::InfinitePast();

  std::string text = {};
  std::string session_id = {};
  std::string model = {};
  std::string message_id = {};
  std::string parent_id = {};  // the tool call whose sub-agent did this; "" is the agent itself
  std::string tool_id = {};
  std::string tool_name = {};
  bool is_error = false;
  bool partial = false;   // a piece of a text that will also come whole
  bool new_turn = false;  // the first sign of one more turn of the agent itself

  Usage usage = {};
  bool has_usage = false;  // kResult: the agent told its totals
  int64_t turns = 0;       // kResult: as the agent counts them; 0: it does not

  // kRateLimit. Hard: the agent cannot go on before `resets_at`. Otherwise it is a notice, and it
  // can.
  bool hard = false;
  absl::Time resets_at = absl::InfinitePast();  // InfinitePast: not told

  std::string raw = {};
  bool from_stderr = false;
  int64_t truncated_bytes = 0;  // of `raw`, cut off at the declared limit of a line
};

// "raw", "started", "text", "tool_call", …
absl::string_view AgentEventKindName(AgentEvent::Kind kind);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_EVENT_H_
