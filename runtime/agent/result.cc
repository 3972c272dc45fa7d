#include "runtime/agent/result.h"

#include "absl/strings/string_view.h"

namespace berth {

absl::string_view AgentStatusName(AgentStatus status) {
  switch (status) {
    case AgentStatus::kIdle:
      return "idle";
    case AgentStatus::kRunning:
      return "running";
    case AgentStatus::kCompleted:
      return "completed";
    case AgentStatus::kFailed:
      return "failed";
  }
  return "idle";
}

absl::string_view AgentEndName(AgentEnd end) {
  switch (end) {
    case AgentEnd::kNone:
      return "none";
    case AgentEnd::kSuccess:
      return "success";
    case AgentEnd::kError:
      return "error";
    case AgentEnd::kNoResult:
      return "no_result";
    case AgentEnd::kStopped:
      return "stopped";
    case AgentEnd::kInactivity:
      return "inactivity";
    case AgentEnd::kWall:
      return "wall";
    case AgentEnd::kTurns:
      return "turns";
    case AgentEnd::kCost:
      return "cost";
    case AgentEnd::kWaiting:
      return "waiting";
    case AgentEnd::kResumeRefused:
      return "resume_refused";
    case AgentEnd::kLost:
      return "lost";
  }
  return "none";
}

}  // namespace berth
