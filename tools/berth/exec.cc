// berth exec: one more command in a session's place.

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/options.h"
#include "tools/berth/run_command.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {
namespace {

struct ExecOptions {
  std::string name;
  ProgramOptions program;
  ForegroundOptions foreground;
};

absl::StatusOr<int> Exec(const ExecOptions& options, Context& context) {
  ProcessSpec spec;
  ABSL_RETURN_IF_ERROR(options.program.FillIn(context.words, &spec));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  return RunProcess(std::move(spec), options.foreground, signals.get(),
                    [&session](const ProcessSpec& ready) { return session->Exec(ready); });
}

}  // namespace

void AddExec(Cli* cli) {
  cli->Add({.name = "exec",
            .summary = "Run one more command in a session's place, with its environment",
            .arguments = "NAME [OPTIONS] [--] COMMAND [ARGUMENT…]",
            .examples = {"berth exec web -- ps -ef", "berth exec web --tty always -- bash",
                         "tar c . | berth exec web -- tar x -C /tmp"},
            .words = Words::kCommand},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<ExecOptions>();
             arguments->Session(&options->name);
             options->program.AddTo(arguments);
             options->foreground.AddTo(arguments);
             return [options](Context& context) { return Exec(*options, context); };
           });
}

}  // namespace berth::cli
