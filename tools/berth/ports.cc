// berth ports: loopback ports that are free, leased to one command, or waited for.

#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/ports/port.h"
#include "runtime/ports/port_lease.h"
#include "runtime/record/state_dir.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/run_command.h"
#include "tools/berth/session_json.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {
namespace {

struct PortWaitOptions {
  uint16_t port = 0;
  absl::Duration timeout = absl::InfiniteDuration();
};

struct LeaseOptions {
  uint16_t port = 0;
  std::string variable = "PORT";
  ProgramOptions program;
  ForegroundOptions foreground;
};

absl::StatusOr<int> Free(Context& context) {
  ABSL_ASSIGN_OR_RETURN(const uint16_t port, FindFreePort());
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"port", port}}));
  } else {
    ABSL_RETURN_IF_ERROR(Print(absl::StrCat(port, "\n")));
  }
  return kOk;
}

absl::StatusOr<int> WaitForPort(const PortWaitOptions& options, Context& context) {
  const absl::Status waited = WaitUnbound(options.port, absl::Now() + options.timeout);
  if (absl::IsDeadlineExceeded(waited)) {
    return absl::DeadlineExceededError(absl::StrCat("port ", options.port, " is still bound"));
  }
  ABSL_RETURN_IF_ERROR(waited);
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"port", options.port}, {"bound", false}}));
  }
  return kOk;
}

// The command runs with the port in its environment; no other berth is given it until the command
// has ended.
absl::StatusOr<int> Lease(const LeaseOptions& options, Context& context) {
  ProcessSpec spec;
  ABSL_RETURN_IF_ERROR(options.program.FillIn(context.words, &spec));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  ABSL_ASSIGN_OR_RETURN(const StateDir dir, StateDir::Open(context.state_dir));
  ABSL_ASSIGN_OR_RETURN(PortLease lease,
                        PortLease::Acquire(absl::StrCat(dir.path(), "/ports"), options.port));
  lease.ReleaseSocket();
  spec.env.Set(options.variable, absl::StrCat(lease.port()));
  return RunProcess(std::move(spec), options.foreground, signals.get(),
                    [runtime](const ProcessSpec& ready) { return runtime->Spawn(ready); });
}

void AddFree(Cli* cli) {
  cli->Add({.name = "ports free",
            .summary = "Print a loopback port that is free now",
            .examples = {"berth ports free", "PORT=$(berth ports free) ./server"},
            .json = true},
           [](Arguments*) -> Cli::Action { return Free; });
}

void AddLease(Cli* cli) {
  cli->Add({.name = "ports lease",
            .summary = "Run a command with a port that no other berth is given meanwhile",
            .arguments = "[OPTIONS] [--] COMMAND [ARGUMENT…]",
            .examples = {"berth ports lease -- sh -c 'python3 -m http.server $PORT'",
                         "berth ports lease --port 8080 --variable HTTP_PORT -- ./server"},
            .words = Words::kCommand},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<LeaseOptions>();
             arguments->Number("--port", &options->port, "PORT",
                               "This port and no other (default: any)");
             arguments->Text("--variable", &options->variable, "KEY",
                             "Variable that tells the command (default: PORT)");
             options->program.AddTo(arguments);
             options->program.AddEnvironmentTo(arguments);
             options->foreground.AddTo(arguments);
             return [options](Context& context) { return Lease(*options, context); };
           });
}

void AddWaitUnbound(Cli* cli) {
  cli->Add({.name = "ports wait",
            .summary = "Wait until no process has a port bound",
            .arguments = "[OPTIONS] PORT",
            .examples = {"berth ports wait 8080", "berth ports wait 8080 --timeout 10s"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<PortWaitOptions>();
             arguments->Number("PORT", &options->port, "", "1 to 65535", uint16_t{1}).Required();
             AddDuration(arguments, "--timeout", &options->timeout,
                         "Give up after this time (exit code 124)");
             return [options](Context& context) { return WaitForPort(*options, context); };
           });
}

}  // namespace

void AddPorts(Cli* cli) {
  AddFree(cli);
  AddLease(cli);
  AddWaitUnbound(cli);
}

}  // namespace berth::cli
