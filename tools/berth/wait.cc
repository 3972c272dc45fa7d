// berth wait, berth kill: the end of a session's program. The session stays for inspection.

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/options.h"
#include "tools/berth/session_json.h"

namespace berth::cli {
namespace {

struct WaitOptions {
  std::string name;
  absl::Duration timeout = absl::InfiniteDuration();
};

struct KillOptions {
  std::string name;
  int signal = 0;
  absl::Duration grace = absl::Seconds(5);
};

absl::Status PrintEnd(const Session& session, const ExitStatus& end) {
  return PrintJson({{"name", session.name()}, {"exit", ToJson(end)}});
}

absl::StatusOr<int> Wait(const WaitOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  absl::StatusOr<ExitStatus> end = session->Wait(absl::Now() + options.timeout);
  if (absl::IsDeadlineExceeded(end.status())) {
    return absl::DeadlineExceededError(absl::StrCat("session ", options.name, " still runs"));
  }
  ABSL_RETURN_IF_ERROR(end.status());
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintEnd(*session, *end));
  }
  const std::optional<int> code = ExitCodeOf(*end);
  if (!code.has_value()) return absl::UnavailableError("the session has ended, but nobody saw how");
  return *code;
}

absl::StatusOr<int> Kill(const KillOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  if (options.signal != 0) {
    ABSL_RETURN_IF_ERROR(session->Signal(options.signal));
    if (context.json) {
      ABSL_RETURN_IF_ERROR(PrintJson({{"name", session->name()}, {"signal", options.signal}}));
    }
    return kOk;
  }
  ABSL_ASSIGN_OR_RETURN(const ExitStatus end, session->Stop(options.grace));
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintEnd(*session, end));
  }
  return kOk;
}

}  // namespace

void AddWait(Cli* cli) {
  cli->Add({.name = "wait",
            .summary = "Wait for a session's program to end; its exit code is berth's",
            .arguments = "[OPTIONS] NAME",
            .examples = {"berth wait job", "berth wait job --timeout 10m || echo \"code $?\""},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<WaitOptions>();
             arguments->Session(&options->name);
             AddDuration(arguments, "--timeout", &options->timeout,
                         "Give up after this time (exit code 124)");
             return [options](Context& context) { return Wait(*options, context); };
           });
}

void AddKill(Cli* cli) {
  cli->Add(
      {.name = "kill",
       .summary = "End a session's program and all that it started, or signal it",
       .arguments = "[OPTIONS] NAME",
       .examples = {"berth kill web", "berth kill web --grace 30s", "berth kill web --signal HUP"},
       .json = true},
      [](Arguments* arguments) -> Cli::Action {
        auto options = std::make_shared<KillOptions>();
        arguments->Session(&options->name);
        AddSignal(arguments, "-s,--signal", &options->signal,
                  "Only send this signal to the main process");
        AddDuration(arguments, "--grace", &options->grace,
                    "Time between TERM and KILL (default: 5s)")
            .Excludes("-s,--signal");
        return [options](Context& context) { return Kill(*options, context); };
      });
}

}  // namespace berth::cli
