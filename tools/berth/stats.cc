// berth stats: what sessions use.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/types.h"
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

struct Used {
  std::string name;
  Stats stats;
};

absl::StatusOr<Used> UsedBy(Session& session) {
  ABSL_ASSIGN_OR_RETURN(Stats stats, session.GetStats());
  return Used{session.name(), std::move(stats)};
}

// Of all that run. One that ended meanwhile, or whose engine does not answer, is left out.
absl::StatusOr<std::vector<Used>> UsedByAll(Context& context) {
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  ABSL_ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, runtime->List());
  std::vector<Used> all;
  for (const SessionInfo& info : sessions) {
    if (info.state != SessionState::kRunning) continue;
    absl::StatusOr<std::unique_ptr<Session>> session = runtime->Open(info.handle);
    if (!session.ok()) continue;
    if (absl::StatusOr<Used> used = UsedBy(**session); used.ok()) {
      all.push_back(*std::move(used));
    }
  }
  return all;
}

absl::Status PrintUsed(const std::vector<Used>& all) {
  Table table({"NAME", "CPU", "MEMORY", "PROCESSES", "READ", "WRITTEN", "SOURCE"});
  for (const auto& [name, stats] : all) {
    table.Add({name, absl::StrFormat("%.2fs", absl::ToDoubleSeconds(stats.cpu)),
               ShortBytes(stats.memory_bytes),
               stats.processes < 0 ? "-" : absl::StrCat(stats.processes),
               ShortBytes(stats.read_bytes), ShortBytes(stats.write_bytes), stats.source});
  }
  return PrintTable(table);
}

absl::StatusOr<int> ShowStats(const std::string& name, Context& context) {
  std::vector<Used> all;
  if (name.empty()) {
    ABSL_ASSIGN_OR_RETURN(all, UsedByAll(context));
  } else {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(name));
    ABSL_ASSIGN_OR_RETURN(Used used, UsedBy(*session));
    all.push_back(std::move(used));
  }
  if (context.json) {
    std::vector<Json> json;
    for (const Used& used : all) json.push_back(ToJson(used.name, used.stats));
    ABSL_RETURN_IF_ERROR(PrintJson(name.empty() ? Json::Array(json) : json[0]));
  } else if (all.empty()) {
    Note("No session runs. Start one: berth start NAME -- COMMAND");
  } else {
    ABSL_RETURN_IF_ERROR(PrintUsed(all));
  }
  return kOk;
}

}  // namespace

void AddStats(Cli* cli) {
  cli->Add({.name = "stats",
            .summary = "Show what running sessions use: CPU, memory, processes, storage",
            .arguments = "[OPTIONS] [NAME]",
            .examples = {"berth stats", "berth stats web --json | jq .memory_bytes"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto name = std::make_shared<std::string>();
             arguments->Text("NAME", name.get(), "", "Session (default: all that run)")
                 .Completes(Completion::kSession);
             return [name](Context& context) { return ShowStats(*name, context); };
           });
}

}  // namespace berth::cli
