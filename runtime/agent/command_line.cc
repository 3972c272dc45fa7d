#include "runtime/agent/command_line.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/context.h"
#include "runtime/agent/driver.h"
#include "runtime/record/session_name.h"
#include "runtime/spec.h"
#include "sandbox/policy.h"

namespace berth {
namespace {

constexpr size_t kMaxPrompt = size_t{64} << 20;
constexpr size_t kMaxSessionId = 256;

bool IsBlank(absl::string_view text) { return absl::StripAsciiWhitespace(text).empty(); }

}  // namespace

std::string McpUrl(const AgentContext& context) {
  return absl::StrCat("http://127.0.0.1:", context.mcp_port, "/mcp");
}

std::vector<std::string> AgentCommandLine(const AgentDriver& driver, const AgentContext& context,
                                          bool resume) {
  std::vector<std::string> argv = {context.command.empty() ? std::string(driver.program)
                                                           : context.command};
  const std::vector<std::pair<absl::string_view, std::string>> values = {
      {"{session}", context.resume},
      {"{turns}", absl::StrCat(context.budget.turns)},
      {"{cost}", absl::StrCat(context.budget.cost_usd)},
      {"{mcp}", McpUrl(context)}};
  const auto add = [&](const std::vector<absl::string_view>& words) {
    for (const absl::string_view word : words) {
      argv.push_back(absl::StrReplaceAll(word, values));
    }
  };
  add(driver.before);
  argv.insert(argv.end(), context.args.begin(), context.args.end());
  if (resume) add(driver.resume);
  if (context.budget.turns > 0) add(driver.turns);
  if (context.budget.cost_usd > 0) add(driver.cost);
  if (context.mcp_port != 0) add(driver.mcp);
  add(driver.after);
  return argv;
}

std::string AgentPrompt(const AgentContext& context, bool resume) {
  if (!resume && !IsBlank(context.cold_prompt)) return context.cold_prompt;
  if (!IsBlank(context.prompt)) return context.prompt;
  return resume ? "Continue." : "";
}

absl::Status CheckAgentContext(const AgentContext& context) {
  if (context.prompt.size() > kMaxPrompt || context.cold_prompt.size() > kMaxPrompt) {
    return absl::InvalidArgumentError(
        absl::StrCat("the prompt is longer than ", kMaxPrompt, " bytes"));
  }
  if (context.resume.empty() && IsBlank(context.prompt) && IsBlank(context.cold_prompt)) {
    return absl::InvalidArgumentError("the prompt is empty, and there is no session to resume");
  }
  // It becomes an argument: one that looks like an option would be taken for one.
  if (absl::StartsWith(context.resume, "-") || context.resume.size() > kMaxSessionId) {
    return absl::InvalidArgumentError(
        absl::StrCat("the session to resume, ", ShowText(context.resume), ", is not an id"));
  }
  for (const char c : context.resume) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(
          absl::StrCat("the session to resume, ", ShowText(context.resume), ", is not an id"));
    }
  }
  if (context.inactivity <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("the inactivity limit is not above zero");
  }
  if (context.budget.wall <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("the wall budget is not above zero");
  }
  if (context.budget.turns < 0 || !(context.budget.cost_usd >= 0) ||
      !std::isfinite(context.budget.cost_usd)) {
    return absl::InvalidArgumentError("a budget is negative");
  }
  return absl::OkStatus();
}

absl::Status CheckMcpReach(const AgentContext& context) {
  if (context.mcp_port == 0) return absl::OkStatus();
  const SessionSpec& place = context.place;
  const bool cut_off =
      place.policy.has_value() && place.policy->network() != Policy::Network::kHost;
  const bool container = place.backend == "docker" || !place.container.image.empty();
  if (!cut_off && (!container || place.container.network == "host")) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the MCP server on port ", context.mcp_port,
      " cannot be reached by the agent: ", cut_off ? "under its policy" : "in its container",
      " it has a loopback of its own; it needs the host's network"));
}

}  // namespace berth
