// berth agent run: an agent on a prompt, to its end.

#include "runtime/agent/agent_run.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_json.h"
#include "runtime/agent/result.h"
#include "tools/berth/agent_output.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/loop.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/streams.h"

namespace berth::cli {
namespace {

struct AgentRunOptions {
  AgentContext run;
  ProgramOptions program;
  std::string key_variable;
};

absl::StatusOr<std::string> Prompt(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "-") return ReadAll(STDIN_FILENO);
  return absl::StrJoin(words, " ");
}

int ExitCodeOf(const AgentResult& result) {
  switch (result.reason) {
    case AgentEnd::kSuccess:
      return kOk;
    case AgentEnd::kInactivity:
    case AgentEnd::kWall:
    case AgentEnd::kTurns:
    case AgentEnd::kCost:
      return kTimedOut;
    case AgentEnd::kStopped:
      return 130;
    default:
      return 1;
  }
}

// Shows all that is there to show; says whether the run is finished.
absl::StatusOr<bool> ShowEvents(AgentRun* run, bool json) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<AgentEvent> event, run->Next(absl::InfinitePast()));
    if (!event.has_value()) return run->finished();
    ABSL_RETURN_IF_ERROR(PrintAgentEvent(*event, json));
  }
}

absl::StatusOr<int> RunAgent(const AgentRunOptions& options, Context& context) {
  AgentContext chosen = options.run;
  ABSL_RETURN_IF_ERROR(options.program.FillIn({chosen.agent}, &chosen.place));
  ABSL_ASSIGN_OR_RETURN(chosen.prompt, Prompt(context.words));
  chosen.state_dir = context.state_dir;
  chosen.may_start_thread = true;
  if (!options.key_variable.empty()) {
    const char* key = getenv(options.key_variable.c_str());
    if (key == nullptr) return UsageError(absl::StrCat(options.key_variable, " is not set"));
    chosen.api.key = key;
  }
  // Before anything is made: from here on a Ctrl-C ends the agent, and then berth.
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  absl::StatusOr<std::unique_ptr<AgentRun>> started = AgentRun::Start(runtime, std::move(chosen));
  if (!started.ok()) return StartFailure(started.status());
  AgentRun* const run = started->get();
  if (!context.json) Note(absl::StrCat("berth: run ", run->run_id()));
  bool done = false;
  Loop loop;
  Watch events(run->fd(), [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(done, ShowEvents(run, context.json));
    return absl::OkStatus();
  });
  Watch interrupts(signals->fd(), [&]() -> absl::Status {
    while (signals->Next().has_value()) run->Stop();
    return absl::OkStatus();
  });
  loop.Add(&events);
  loop.Add(&interrupts);
  ABSL_RETURN_IF_ERROR(loop.Run([&] { return done; }));
  ABSL_RETURN_IF_ERROR(PrintAgentResult(run->run_id(), run->result(), context.json));
  return ExitCodeOf(run->result());
}

void AddOptions(CLI::App* app, AgentRunOptions* options) {
  AgentContext& run = options->run;
  app->add_option("AGENT", run.agent, "claude, codex, gemini, openai-api or gemini-api")
      ->required();
  app->add_option("--name", run.place.name, "Of its session (default: one is made up)")
      ->type_name("NAME");
  app->add_option("--backend", run.place.backend, "Engine that it runs on")->type_name("NAME");
  app->add_option("--command", run.command, "Program, if not the agent's usual one")
      ->type_name("PROGRAM");
  app->add_option("--arg", run.args, "One more argument for it. May be repeated")
      ->type_name("WORD")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--resume", run.resume, "Go on with this session of the agent's")
      ->type_name("ID");
  app->add_option("--cold-prompt", run.cold_prompt, "Prompt for a fresh start if that is refused")
      ->type_name("TEXT");
  app->add_option("--story", run.story_id, "A name of your own for the work")->type_name("ID");
  app->add_option("--mcp-port", run.mcp_port, "MCP server on this machine, for its tools")
      ->type_name("PORT");
  AddDuration(app, "--inactivity", &run.inactivity,
              "End it after this time without output (default: 10m; exit code 124)");
  AddDuration(app, "--wall", &run.budget.wall, "End it after this time (exit code 124)");
  app->add_option("--turns", run.budget.turns, "End it after so many turns (exit code 124)")
      ->type_name("N");
  app->add_option("--cost", run.budget.cost_usd, "End it at this cost (exit code 124)")
      ->type_name("USD");
  AddDuration(app, "--result-grace", &run.result_grace,
              "How long it may go on after its result (default: 10s)");
  app->add_flag("--stop-when-waiting", run.stop_when_waiting, "End it if it waits for a person");
  options->program.AddTo(app);
  app->remove_option(app->get_option("--shell"));
  options->program.AddEnvironmentTo(app);
  app->add_option("--api-url", run.api.url, "API loops: http:// URL up to the version")
      ->type_name("URL");
  app->add_option("--model", run.api.model, "API loops: the model")->type_name("NAME");
  app->add_option("--system", run.api.system, "API loops: instructions above the prompt")
      ->type_name("TEXT");
  app->add_option("--api-key-from", options->key_variable, "API loops: variable that has the key")
      ->type_name("VARIABLE");
}

}  // namespace

void AddAgentRun(Cli* cli) {
  cli->Add({.name = "agent run",
            .summary = "Run an agent on a prompt to its end, and say what it did",
            .arguments = "[OPTIONS] AGENT [--] [PROMPT… | -]",
            .examples = {"berth agent run claude -e ANTHROPIC_API_KEY fix the failing test",
                         "berth agent run codex --json --turns 30 - <prompt.md >events.jsonl",
                         "berth agent run openai-api --api-url http://127.0.0.1:11434/v1 --model "
                         "qwen3 --mcp-port 3001 what is open"},
            .words = Words::kText,
            .json = true},
           [](CLI::App* app) -> Cli::Action {
             auto options = std::make_shared<AgentRunOptions>();
             AddOptions(app, options.get());
             return [options](Context& context) { return RunAgent(*options, context); };
           });
}

}  // namespace berth::cli
