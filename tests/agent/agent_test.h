// AgentTest: runs of stand-in agents (shell scripts that print what an agent would) in real
// sessions.
#ifndef BERTH_TESTS_AGENT_AGENT_TEST_H_
#define BERTH_TESTS_AGENT_AGENT_TEST_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "tests/support/runtime_test.h"

namespace berth {

class AgentTest : public RuntimeTest {
 protected:
  using Events = std::vector<AgentEvent>;

  // A script that is run by /bin/sh with the arguments that a driver gives its program.
  std::string Script(absl::string_view name, absl::string_view lines);
  std::string Fixture(absl::string_view agent) const;  // the path of its recorded stream
  AgentContext Context(absl::string_view agent, absl::string_view script);

  // Null, and a failed test, if it does not start.
  std::unique_ptr<AgentRun> Start(AgentContext context);
  // All events until it is finished.
  Events Finish(AgentRun* run);
  // Events until one of this kind has come.
  Events Until(AgentRun* run, AgentEvent::Kind kind);
  static Events Only(const Events& events, AgentEvent::Kind kind);
  std::string Bytes(const std::string& path) const;
};

// Lines of Claude's format.
std::string ClaudeInit(absl::string_view session);
std::string ClaudeText(absl::string_view id, absl::string_view text);
std::string ClaudeResult(absl::string_view text);
// A shell command that prints a line.
std::string Say(absl::string_view line);

}  // namespace berth

#endif  // BERTH_TESTS_AGENT_AGENT_TEST_H_
