// Driver: what berth knows of one agent program: a table, and a parser of its output.
//
// To add an agent, write one file like claude_driver.cc and name it in drivers.cc, or give the
// driver to a run (AgentContext::driver); see docs/agents.md. Drivers are constants; parsers belong
// to one run and one thread.
#ifndef BERTH_RUNTIME_AGENT_DRIVER_H_
#define BERTH_RUNTIME_AGENT_DRIVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/event.h"

namespace berth {

// Turns lines of one run into events. Any bytes may come: what cannot be read is an event kRaw.
class AgentParser {
 public:
  virtual ~AgentParser() = default;
  // Appends at least one event. The caller fills in raw, sequence and time.
  virtual void Parse(absl::string_view line, std::vector<AgentEvent>* events) = 0;
};

struct AgentDriver {
  absl::string_view name;     // "claude"
  absl::string_view program;  // looked up in PATH where the agent runs

  // The command line is: program, `before`, the caller's arguments, `resume` if a session is
  // resumed, `turns`, `cost` and `mcp` if those are set, `after`. In each word {session}, {turns},
  // {cost} and {mcp} (a URL) stand for the value. The prompt is not in it: it goes through standard
  // input, which any length and any first letter can, and no list of processes shows it.
  std::vector<absl::string_view> before = {};
  std::vector<absl::string_view> resume = {};
  std::vector<absl::string_view> turns = {};
  std::vector<absl::string_view> cost = {};
  std::vector<absl::string_view> mcp = {};
  std::vector<absl::string_view> after = {};

  // RE2. A text of an error that means "there is no such session to resume".
  absl::string_view resume_refused = {};
  // RE2. A line that is no event, or an unfinished one, that asks a person for something.
  absl::string_view asks =
      R"((?i)(\[y/n\]|\(y/n\)|\(yes/no\)|press (enter|any key)|password:|)"
      R"(do you want to (proceed|continue)|waiting for (your )?(input|approval)))";

  std::unique_ptr<AgentParser> (*make_parser)() = nullptr;
};

const AgentDriver& ClaudeDriver();
const AgentDriver& CodexDriver();
const AgentDriver& GeminiDriver();

// By name, exactly. NotFound lists the ones there are.
absl::StatusOr<const AgentDriver*> FindAgentDriver(absl::string_view name);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_DRIVER_H_
