// The command line of an agent, from its driver's table. Internal to runtime/agent.
#ifndef BERTH_RUNTIME_AGENT_COMMAND_LINE_H_
#define BERTH_RUNTIME_AGENT_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/agent/context.h"
#include "runtime/agent/driver.h"

namespace berth {

// `resume`: whether context.resume is to be resumed.
std::vector<std::string> AgentCommandLine(const AgentDriver& driver, const AgentContext& context,
                                          bool resume);

// What goes through standard input: never nothing, since agents take that for a mistake.
std::string AgentPrompt(const AgentContext& context, bool resume);

// InvalidArgument names what is wrong.
absl::Status CheckAgentContext(const AgentContext& context);

// InvalidArgument if the MCP server on this machine's loopback cannot be reached from where the
// agent, a program, would run: its tools would be missing, and nobody would say so.
absl::Status CheckMcpReach(const AgentContext& context);

// "http://127.0.0.1:<port>/mcp".
std::string McpUrl(const AgentContext& context);

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_COMMAND_LINE_H_
