// berth start: a durable session.

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/choose.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/policy_options.h"
#include "tools/berth/pull.h"
#include "tools/berth/session_json.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

struct StartOptions {
  ProgramOptions program;
  PolicyOptions policy;
  SessionSpec spec;
  bool pipes = false;
  std::string log;
};

absl::StatusOr<SessionSpec> ToSpec(const StartOptions& options, const Context& context) {
  SessionSpec spec = options.spec;
  spec.pty = !options.pipes;
  ABSL_RETURN_IF_ERROR(options.program.FillIn(context.words, &spec));
  ABSL_ASSIGN_OR_RETURN(spec.policy, options.policy.ToPolicy(spec.cwd, spec.env.inherits_all()));
  if (!options.log.empty()) {
    ABSL_ASSIGN_OR_RETURN(spec.log_path, AbsolutePath(options.log));
  }
  if (!spec.nix.flake.empty()) {
    ABSL_ASSIGN_OR_RETURN(spec.nix.flake, AbsolutePath(spec.nix.flake));
  }
  return spec;
}

// What may take long the first time, shown and given up on a signal: the images of containers are
// fetched, dev shells are built.
absl::Status Prepare(const SessionSpec& spec, SignalFd* signals, std::optional<int>* signal) {
  if (spec.backend == "docker" && !spec.container.image.empty()) {
    const absl::Status pulled = PullMissing(spec.container.image, [signals, signal] {
      *signal = signals->NextThatEnds();
      return !signal->has_value();
    });
    return signal->has_value() ? absl::OkStatus() : pulled;
  }
  if (spec.backend == "nix" && IsTerminal(STDERR_FILENO)) {
    Note("berth: start: nix: the first time, the dev shell is built");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Start(const StartOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(SessionSpec spec, ToSpec(options, context));
  // A Ctrl-C while it is made must leave nothing half made.
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  ABSL_ASSIGN_OR_RETURN(const Choice choice, runtime->Choose(spec));
  if (spec.backend == "auto" && choice.backend != "native") {
    Note(absl::StrCat("berth: start: ", choice.backend, ", since ", choice.reason));
  }
  spec.backend = choice.backend;
  std::optional<int> signal;
  ABSL_RETURN_IF_ERROR(Prepare(spec, signals.get(), &signal));
  if (signal.has_value()) return 128 + *signal;
  absl::StatusOr<std::unique_ptr<Session>> session = runtime->CreateSession(spec);
  if (absl::IsAlreadyExists(session.status())) {
    return WithHint(session.status(),
                    absl::StrCat("'berth rm ", spec.name, "' removes it, 'berth attach ", spec.name,
                                 "' shows it"));
  }
  if (!session.ok()) return StartFailure(session.status());
  if (signal = signals->NextThatEnds(); signal.has_value()) {
    ABSL_RETURN_IF_ERROR((*session)->Destroy(spec.grace));
    return 128 + *signal;
  }
  if (!context.json) {
    ABSL_RETURN_IF_ERROR(Print(absl::StrCat((*session)->handle(), "\n")));
    return kOk;
  }
  ABSL_ASSIGN_OR_RETURN(const SessionInfo info, (*session)->Info());
  ABSL_RETURN_IF_ERROR(PrintJson(ToJson(info)));
  return kOk;
}

}  // namespace

void AddStart(Cli* cli) {
  cli->Add(
      {.name = "start",
       .summary = "Start a session that outlives this terminal; prints its handle",
       .arguments = "NAME [OPTIONS] [--] COMMAND [ARGUMENT…]",
       .examples = {"berth start fix-42 --preset agent -- claude",
                    "berth start web --log web.log -e PORT=8080 -- ./server",
                    "berth start pair --backend tmux -- bash   # 'berth attach pair', or tmux",
                    "berth start box --image debian:12 -- bash",
                    "berth start job --pipes --wall 1h --shell 'make 2>&1'"},
       .words = Words::kCommand,
       .json = true},
      [](Arguments* arguments) -> Cli::Action {
        auto options = std::make_shared<StartOptions>();
        SessionSpec& spec = options->spec;
        arguments->Text("NAME", &spec.name, "", "Letters, digits, - and _; at most 64").Required();
        options->program.AddTo(arguments);
        options->program.AddEnvironmentTo(arguments);
        options->policy.AddTo(arguments);
        spec.backend = "auto";
        arguments->Choice(
            "--backend", &spec.backend, {"auto", "native", "tmux", "docker", "nix"},
            "Engine that it runs on (default: docker for an image, nix for a flake.nix, "
            "else native)");
        arguments->Text("--image", &spec.container.image, "IMAGE",
                        "Image of the container it runs in");
        arguments
            ->Text("--flake", &spec.nix.flake, "DIR", "Folder of the flake whose dev shell it has")
            .Completes(Completion::kFolder);
        arguments->Flag("--pipes", &options->pipes, "Three pipes instead of a terminal");
        AddSize(arguments, "--size", &spec.size, "Size of the terminal (default: 24x80)");
        arguments->Text("--log", &options->log, "FILE", "Write all output to this file too")
            .Completes(Completion::kFile);
        AddDuration(arguments, "--wall", &spec.wall_limit, "End it after this time");
        AddDuration(arguments, "--inactivity", &spec.inactivity_limit,
                    "End it after this time without output");
        AddDuration(arguments, "--grace", &spec.grace, "Time between TERM and KILL (default: 5s)");
        return [options](Context& context) { return Start(*options, context); };
      });
}

}  // namespace berth::cli
