#include "tools/berth/agent_output.h"

#include <stddef.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/result.h"
#include "sandbox/base/printable.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

constexpr size_t kShown = 200;

std::string Short(absl::string_view text) {
  if (text.size() <= kShown) return Printable(text);
  // Not within a character, whose beginning would be shown as what it is not.
  size_t end = kShown;
  while (end > kShown - 3 && (text[end] & 0xC0) == 0x80) --end;
  return absl::StrCat(Printable(text.substr(0, end)), " …");
}

std::string Describe(const AgentEvent& event) {
  switch (event.kind) {
    case AgentEvent::Kind::kStarted:
      return absl::StrCat("started: session ", Short(event.session_id), " ", Short(event.model));
    case AgentEvent::Kind::kText:
      // Whole: it is what people came for.
      return event.partial ? "" : PrintableLines(event.text);
    case AgentEvent::Kind::kToolCall:
      return absl::StrCat("> ", Short(event.tool_name), " ", Short(event.text));
    case AgentEvent::Kind::kToolResult:
      return absl::StrCat(event.is_error ? "< error: " : "< ", Short(event.text));
    case AgentEvent::Kind::kRateLimit:
      if (!event.hard) return "";
      return absl::StrCat("rate limit ", Short(event.text), " until ",
                          absl::FormatTime(event.resets_at));
    case AgentEvent::Kind::kWaiting:
      return absl::StrCat("waiting for a person: ", Short(event.text));
    case AgentEvent::Kind::kRaw:
      return event.from_stderr ? absl::StrCat("! ", Short(event.raw)) : Short(event.text);
    case AgentEvent::Kind::kUsage:
    case AgentEvent::Kind::kResult:
      return "";
  }
  return "";
}

}  // namespace

absl::Status PrintAgentEvent(const AgentEvent& event, bool json) {
  if (json) return Print(absl::StrCat(AgentEventToJson(event), "\n"));
  std::string line = Describe(event);
  if (line.empty()) return absl::OkStatus();
  if (!event.parent_id.empty()) line = absl::StrCat("  ", line);
  return Print(absl::StrCat(line, "\n"));
}

absl::Status PrintAgentResult(absl::string_view run, const AgentResult& result, bool json) {
  if (json) {
    return Print(absl::StrCat(R"({"kind":"end","run":")", run, R"(","result":)",
                              AgentResultToJson(result), "}\n"));
  }
  std::string line =
      absl::StrCat(AgentStatusName(result.status), " (", AgentEndName(result.reason));
  if (!result.detail.empty()) absl::StrAppend(&line, ": ", Short(result.detail));
  const Usage& usage = result.usage;
  absl::StrAppend(&line, "), ", result.turns, " turns, ", usage.input, " in, ", usage.output,
                  " out, ", usage.cache_creation, " cached, ", usage.cache_read, " from cache, $",
                  absl::StrFormat("%.4f", usage.cost_usd));
  if (!result.session_id.empty()) absl::StrAppend(&line, ", session ", Short(result.session_id));
  Note(absl::StrCat("berth: ", line));
  if (!result.log_error.empty()) {
    Note(absl::StrCat("berth: the log lacks events: ", result.log_error));
  }
  return absl::OkStatus();
}

}  // namespace berth::cli
