// berth agent events, berth agent usage: what a run did and used up, from its log.

#include <poll.h>
#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_log.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"
#include "sandbox/base/wait_fd.h"
#include "tools/berth/agent_output.h"
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

absl::StatusOr<std::unique_ptr<EventLogReader>> OpenRun(const std::string& run, Context& context) {
  absl::StatusOr<std::unique_ptr<EventLogReader>> reader =
      EventLogReader::Open(context.state_dir, run);
  if (!absl::IsNotFound(reader.status())) return reader;
  return WithHint(reader.status(), "'berth agent usage' lists the runs there are");
}

struct AgentEventsOptions {
  std::string run;
  bool follow = false;
  int64_t from = 0;
};

absl::StatusOr<int> ShowEventsOf(const AgentEventsOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<EventLogReader> log, OpenRun(options.run, context));
  while (true) {
    // Looked at first: what was written before the writer went is read below.
    const bool abandoned = log->abandoned();
    ABSL_ASSIGN_OR_RETURN(const std::optional<AgentEvent> event, log->Next());
    if (event.has_value()) {
      if (event->sequence >= options.from) {
        ABSL_RETURN_IF_ERROR(PrintAgentEvent(*event, context.json));
      }
      continue;
    }
    if (!options.follow || log->end().has_value() || abandoned) break;
    ABSL_RETURN_IF_ERROR(WaitFd(log->fd(), POLLIN, absl::InfiniteFuture(), "follow the run"));
  }
  if (log->end().has_value()) {
    ABSL_RETURN_IF_ERROR(PrintAgentResult(log->header().run_id, *log->end(), context.json));
  }
  return kOk;
}

struct RunUsage {
  RunHeader header;
  AgentResult result;  // running: as tallied so far
  bool ended = false, abandoned = false;
};

absl::StatusOr<RunUsage> UsageOfRun(const std::string& run, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<EventLogReader> log, OpenRun(run, context));
  RunUsage usage;
  usage.abandoned = log->abandoned();
  UsageTally tally;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<AgentEvent> event, log->Next());
    if (!event.has_value()) break;
    if (event->kind == AgentEvent::Kind::kUsage) tally.Add(event->message_id, event->usage);
    if (event->new_turn) ++usage.result.turns;
    if (!event->session_id.empty()) usage.result.session_id = event->session_id;
  }
  usage.header = log->header();
  usage.result.usage = tally.total();
  usage.result.status = usage.abandoned ? AgentStatus::kFailed : AgentStatus::kRunning;
  if (log->end().has_value()) usage.result = *log->end();
  usage.ended = log->end().has_value();
  return usage;
}

Json UsageJson(const RunUsage& run) {
  const Usage& usage = run.result.usage;
  return {{"run", run.header.run_id},
          {"name", run.header.name},
          {"agent", run.header.agent},
          {"story_id", run.header.story_id},
          {"status", AgentStatusName(run.result.status)},
          {"reason", run.ended ? Json(AgentEndName(run.result.reason))
                               : Json(run.abandoned ? "lost" : "none")},
          {"session_id", run.result.session_id},
          {"turns", run.result.turns},
          {"input", usage.input},
          {"output", usage.output},
          {"cache_creation", usage.cache_creation},
          {"cache_read", usage.cache_read},
          {"cost_usd", usage.cost_usd}};
}

absl::StatusOr<int> ShowAgentUsage(const std::string& run, Context& context) {
  std::vector<std::string> runs = {run};
  if (run.empty()) {
    ABSL_ASSIGN_OR_RETURN(runs, ListRuns(context.state_dir));
  }
  std::vector<Json> all;
  Table table(
      {"RUN", "AGENT", "STATUS", "TURNS", "INPUT", "OUTPUT", "CACHED", "FROM CACHE", "COST"});
  for (const std::string& each : runs) {
    ABSL_ASSIGN_OR_RETURN(const RunUsage found, UsageOfRun(each, context));
    const Usage& usage = found.result.usage;
    all.push_back(UsageJson(found));
    table.Add({found.header.run_id, found.header.agent,
               std::string(AgentStatusName(found.result.status)), absl::StrCat(found.result.turns),
               absl::StrCat(usage.input), absl::StrCat(usage.output),
               absl::StrCat(usage.cache_creation), absl::StrCat(usage.cache_read),
               absl::StrFormat("$%.4f", usage.cost_usd)});
  }
  ABSL_RETURN_IF_ERROR(!context.json ? PrintTable(table)
                                     : PrintJson(run.empty() ? Json::Array(all) : all[0]));
  return kOk;
}

}  // namespace

void AddAgentEvents(Cli* cli) {
  cli->Add({.name = "agent events",
            .summary = "What a run of an agent did, from its log",
            .arguments = "[OPTIONS] RUN",
            .examples = {"berth agent events fix-42", "berth agent events -f --json fix-42"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<AgentEventsOptions>();
             arguments->Text("RUN", &options->run, "", "A run, or a name: its latest run")
                 .Required()
                 .Completes(Completion::kRun);
             arguments->Flag("-f,--follow", &options->follow, "Go on until the run has ended");
             arguments->Number("--from", &options->from, "N", "Number of the first event wanted");
             return [options](Context& context) { return ShowEventsOf(*options, context); };
           });
}

void AddAgentUsage(Cli* cli) {
  cli->Add({.name = "agent usage",
            .summary = "What runs of agents have used up",
            .arguments = "[OPTIONS] [RUN]",
            .examples = {"berth agent usage", "berth agent usage --json fix-42"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto run = std::make_shared<std::string>();
             arguments->Text("RUN", run.get(), "",
                             "A run, or a name: its latest run (default: all)");
             return [run](Context& context) { return ShowAgentUsage(*run, context); };
           });
}

}  // namespace berth::cli
