// berth run: a command to its end, in the foreground.

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/named_run.h"
#include "tools/berth/options.h"
#include "tools/berth/policy_options.h"
#include "tools/berth/run_command.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {
namespace {

struct RunOptions {
  bool NeedsSession() const {
    return !name.empty() || policy.copy_on_write() || wall != absl::InfiniteDuration() ||
           inactivity != absl::InfiniteDuration();
  }

  ProgramOptions program;
  PolicyOptions policy;
  ForegroundOptions foreground;
  std::string name;
  absl::Duration wall = absl::InfiniteDuration();
  absl::Duration inactivity = absl::InfiniteDuration();
};

absl::StatusOr<int> RunAsSession(const RunOptions& options, Context& context, SignalFd* signals) {
  SessionSpec spec;
  ABSL_RETURN_IF_ERROR(options.program.FillIn(context.words, &spec));
  ABSL_ASSIGN_OR_RETURN(spec.policy, options.policy.ToPolicy(spec.cwd, spec.env.inherits_all()));
  // No other process has our pid while we live, and the session does not outlive us.
  spec.name = options.name.empty() ? absl::StrCat("run-", getpid()) : options.name;
  // One whose changes are kept does outlive us.
  if (options.name.empty() && options.policy.copy_on_write()) {
    absl::StrAppend(&spec.name, "-", absl::ToUnixSeconds(absl::Now()));
  }
  spec.pty = options.foreground.WantsTerminal();
  spec.grace = options.foreground.grace;
  spec.wall_limit = options.wall;
  spec.inactivity_limit = options.inactivity;
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  return RunInSession(runtime, std::move(spec), signals);
}

absl::StatusOr<int> RunOnItsOwn(const RunOptions& options, Context& context, SignalFd* signals) {
  ProcessSpec spec;
  ABSL_RETURN_IF_ERROR(options.program.FillIn(context.words, &spec));
  ABSL_ASSIGN_OR_RETURN(spec.policy, options.policy.ToPolicy(spec.cwd, spec.env.inherits_all()));
  if (spec.policy.has_value() && spec.policy->limits().wall != absl::InfiniteDuration()) {
    return RunAsSession(options, context, signals);
  }
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  return RunProcess(std::move(spec), options.foreground, signals,
                    [runtime](const ProcessSpec& ready) { return runtime->Spawn(ready); });
}

absl::StatusOr<int> Run(const RunOptions& options, Context& context) {
  // Before anything is made: from here on a Ctrl-C is kept for the command.
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  return options.NeedsSession() ? RunAsSession(options, context, signals.get())
                                : RunOnItsOwn(options, context, signals.get());
}

}  // namespace

void AddRun(Cli* cli) {
  cli->Add({.name = "run",
            .summary = "Run a command to its end, with these streams and its exit code",
            .arguments = "[OPTIONS] [--] COMMAND [ARGUMENT…]",
            .examples =
                {"berth run -- make test", "berth run --preset agent --mem 2G -- claude",
                 "berth run --wall 10m --shell 'npm ci && npm test' >log",
                 "berth run --name build -e CC=clang -- make   # 'berth attach build' elsewhere"},
            .words = Words::kCommand},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<RunOptions>();
             arguments->Text("--name", &options->name, "NAME",
                             "Make it a session that others can look at while it runs");
             options->program.AddTo(arguments);
             options->program.AddEnvironmentTo(arguments);
             options->policy.AddTo(arguments);
             options->foreground.AddTo(arguments);
             AddDuration(arguments, "--wall", &options->wall,
                         "End the command after this time (exit code 124)");
             AddDuration(arguments, "--inactivity", &options->inactivity,
                         "End it after this time without output (exit code 124)");
             return [options](Context& context) { return Run(*options, context); };
           });
}

}  // namespace berth::cli
