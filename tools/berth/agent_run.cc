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
#include "runtime/choose.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "tools/berth/agent_output.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/loop.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/policy_options.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/streams.h"

namespace berth::cli {
namespace {

struct AgentRunOptions {
  AgentContext run;
  ProgramOptions program;
  PolicyOptions policy;
  std::vector<std::string> mounts;
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

// Where the agent runs, and under which policy.
absl::Status FillInPlace(const AgentRunOptions& options, AgentContext* run) {
  SessionSpec& place = run->place;
  ABSL_RETURN_IF_ERROR(options.program.FillIn({run->agent}, &place));
  ABSL_ASSIGN_OR_RETURN(place.policy, options.policy.ToPolicy(place.cwd, place.env.inherits_all()));
  if (!place.nix.flake.empty()) {
    ABSL_ASSIGN_OR_RETURN(place.nix.flake, AbsolutePath(place.nix.flake));
  }
  for (const std::string& mount : options.mounts) {
    ABSL_ASSIGN_OR_RETURN(const std::string path, AbsolutePath(mount));
    place.container.mounts.push_back({.source = path, .target = path});
  }
  return absl::OkStatus();
}

// Settles which engine it is, and says so where that is not the usual one.
absl::Status Choose(Runtime* runtime, SessionSpec* place) {
  ABSL_ASSIGN_OR_RETURN(const Choice choice, runtime->Choose(*place));
  if (place->backend == "auto" && choice.backend != "native") {
    Note(absl::StrCat("berth: agent: ", choice.backend, ", since ", choice.reason));
  }
  place->backend = choice.backend;
  return absl::OkStatus();
}

absl::StatusOr<int> RunAgent(const AgentRunOptions& options, Context& context) {
  AgentContext chosen = options.run;
  ABSL_RETURN_IF_ERROR(FillInPlace(options, &chosen));
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
  if (chosen.api.url.empty()) {
    ABSL_RETURN_IF_ERROR(Choose(runtime, &chosen.place));
  }
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

void AddOptions(Arguments* arguments, AgentRunOptions* options) {
  AgentContext& run = options->run;
  arguments->Text("AGENT", &run.agent, "", "claude, codex, gemini, openai-api or gemini-api")
      .Required();
  arguments->Text("--name", &run.place.name, "NAME", "Of its session (default: one is made up)");
  run.place.backend = "auto";
  arguments->Choice(
      "--backend", &run.place.backend, {"auto", "native", "tmux", "docker", "nix"},
      "Engine that it runs on (default: docker for an image, nix for a flake.nix, else native)");
  arguments->Text("--image", &run.place.container.image, "IMAGE",
                  "Image of the container it runs in");
  arguments->Texts("--mount", &options->mounts, "PATH",
                   "Show it this in the container, at the same place");
  arguments->Text("--flake", &run.place.nix.flake, "DIR",
                  "Folder of the flake whose dev shell it has");
  arguments->Text("--command", &run.command, "PROGRAM", "Program, if not the agent's usual one");
  arguments->Texts("--arg", &run.args, "WORD", "One more argument for it. May be repeated");
  arguments->Text("--resume", &run.resume, "ID", "Go on with this session of the agent's");
  arguments->Text("--cold-prompt", &run.cold_prompt, "TEXT",
                  "Prompt for a fresh start if that is refused");
  arguments->Text("--story", &run.story_id, "ID", "A name of your own for the work");
  arguments->Number("--mcp-port", &run.mcp_port, "PORT",
                    "MCP server on this machine, for its tools");
  AddDuration(arguments, "--inactivity", &run.inactivity,
              "End it after this time without output (default: 10m; exit code 124)");
  AddDuration(arguments, "--wall", &run.budget.wall, "End it after this time (exit code 124)");
  arguments->Number("--turns", &run.budget.turns, "N",
                    "End it after so many turns (exit code 124)");
  arguments->Decimal("--cost", &run.budget.cost_usd, "USD", "End it at this cost (exit code 124)");
  AddDuration(arguments, "--result-grace", &run.result_grace,
              "How long it may go on after its result (default: 10s)");
  arguments->Flag("--stop-when-waiting", &run.stop_when_waiting, "End it if it waits for a person");
  options->program.AddPlaceTo(arguments);
  options->program.AddEnvironmentTo(arguments);
  options->policy.AddTo(arguments);
  arguments->Text("--api-url", &run.api.url, "URL", "API loops: URL up to the version");
  arguments->Text("--ca-file", &run.http.ca_file, "FILE",
                  "API loops: PEM file of who may vouch for https servers (default: whom this "
                  "machine trusts)");
  arguments->Text("--model", &run.api.model, "NAME", "API loops: the model");
  arguments->Text("--system", &run.api.system, "TEXT", "API loops: instructions above the prompt");
  arguments->Text("--api-key-from", &options->key_variable, "VARIABLE",
                  "API loops: variable that has the key");
}

}  // namespace

void AddAgentRun(Cli* cli) {
  cli->Add({.name = "agent run",
            .summary = "Run an agent on a prompt to its end, and say what it did",
            .arguments = "[OPTIONS] AGENT [--] [PROMPT… | -]",
            .examples = {"berth agent run claude -e ANTHROPIC_API_KEY fix the failing test",
                         "berth agent run claude -e ANTHROPIC_API_KEY --preset agent --net "
                         "allow:api.anthropic.com --mem 4G fix it",
                         "berth agent run codex --json --turns 30 - <prompt.md >events.jsonl",
                         "berth agent run openai-api --api-url http://127.0.0.1:11434/v1 --model "
                         "qwen3 --mcp-port 3001 what is open"},
            .words = Words::kText,
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<AgentRunOptions>();
             AddOptions(arguments, options.get());
             return [options](Context& context) { return RunAgent(*options, context); };
           });
}

}  // namespace berth::cli
