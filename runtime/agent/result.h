// AgentResult: how a run stands or ended. Plain data.
#ifndef BERTH_RUNTIME_AGENT_RESULT_H_
#define BERTH_RUNTIME_AGENT_RESULT_H_

#include <stdint.h>

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/agent/usage.h"
#include "runtime/types.h"

namespace berth {

// The numbers are part of the C ABI: they stay.
enum class AgentStatus : uint8_t { kIdle = 0, kRunning = 1, kCompleted = 2, kFailed = 3 };
// "idle", "running", "completed", "failed".
absl::string_view AgentStatusName(AgentStatus status);

enum class AgentEnd : uint8_t {
  kNone = 0,            // it runs
  kSuccess = 1,         // it told a result
  kError = 2,           // it told a result that is an error
  kNoResult = 3,        // it ended without one
  kStopped = 4,         // by Stop
  kInactivity = 5,      // it was silent for too long
  kWall = 6,            // its wall-clock budget
  kTurns = 7,           // its budget of turns
  kCost = 8,            // its budget of money
  kWaiting = 9,         // for a person, and the caller wanted that to be the end
  kResumeRefused = 10,  // there is no such session, and nothing to start afresh with
  kLost = 11,           // its engine does not answer any more
};
// "none", "success", "error", "no_result", …
absl::string_view AgentEndName(AgentEnd end);

struct AgentResult {
  AgentStatus status = AgentStatus::kIdle;
  AgentEnd reason = AgentEnd::kNone;
  std::string detail = {};      // of the reason, for people
  std::string text = {};        // the agent's last word
  std::string session_id = {};  // the agent's own, to resume by; known from its first event on
  bool resumed = false;         // it goes on where that session was
  bool resume_refused = false;  // that was asked for and refused: this is a fresh one
  Usage usage = {};             // as the agent told it at its end, until then as tallied
  Usage tallied = {};           // every message once
  int64_t turns = 0;
  ExitStatus exit = {};        // of the process, once it has ended
  int64_t torn_bytes = 0;      // of a last line without an end
  std::string log_error = {};  // why events are missing in the log; "": none are
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_RESULT_H_
