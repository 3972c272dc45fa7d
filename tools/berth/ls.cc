// berth ls: the sessions there are.

#include <string>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/output.h"
#include "tools/berth/session_json.h"

namespace berth::cli {
namespace {

// "running", "exited (3)", "killed (9)"
std::string State(const SessionInfo& info) {
  if (info.state != SessionState::kExited) return std::string(SessionStateName(info.state));
  if (info.exit.reason == EndReason::kUnknown) return "exited (?)";
  if (info.exit.signal != 0) return absl::StrCat("killed (", info.exit.signal, ")");
  return absl::StrCat("exited (", info.exit.code, ")");
}

Colour StateColour(const SessionInfo& info) {
  if (info.state == SessionState::kRunning) return Colour::kGreen;
  if (info.state != SessionState::kExited) return Colour::kYellow;
  return info.exit.success() ? Colour::kDim : Colour::kRed;
}

std::string Ago(absl::Time then, absl::Time now) {
  return then == absl::InfinitePast() ? "-" : ShortDuration(now - then);
}

absl::StatusOr<int> List(Context& context) {
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  ABSL_ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, runtime->List());
  if (context.json) {
    std::vector<Json> all;
    for (const SessionInfo& info : sessions) all.push_back(ToJson(info));
    ABSL_RETURN_IF_ERROR(PrintJson(Json::Array(all)));
    return kOk;
  }
  if (sessions.empty()) {
    Note("There are no sessions. Start one: berth start NAME -- COMMAND");
    return kOk;
  }
  Table table({"NAME", "STATE", "BACKEND", "PID", "AGE", "LAST-OUTPUT", "TITLE"});
  const absl::Time now = absl::Now();
  for (const SessionInfo& info : sessions) {
    table.Add(
        {info.name, State(info), info.backend, info.pid > 0 ? absl::StrCat(info.pid) : "-",
         ShortDuration(now - info.created), Ago(info.last_output, now), Printable(info.title)},
        {Colour::kNone, StateColour(info)});
  }
  ABSL_RETURN_IF_ERROR(PrintTable(table));
  return kOk;
}

}  // namespace

void AddLs(Cli* cli) {
  cli->Add({.name = "ls",
            .alias = "ps",
            .summary = "List the sessions",
            .examples = {"berth ls",
                         "berth ls --json | jq -r '.[] | select(.state == \"running\").name'"},
            .json = true},
           [](Arguments*) -> Cli::Action { return List; });
}

}  // namespace berth::cli
