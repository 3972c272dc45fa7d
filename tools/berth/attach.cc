// berth attach: a person's terminal on a session.

#include <unistd.h>

#include <memory>
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
#include "tools/berth/detach_key.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"
#include "tools/berth/visit.h"

namespace berth::cli {
namespace {

struct AttachOptions {
  std::string name;
  std::string detach_key = "C-]";
};

// The session's own code once it has ended: how it ended is told on the way.
absl::StatusOr<int> TellEnd(Session* session, const std::string& name) {
  absl::StatusOr<ExitStatus> end = session->Wait(absl::Now() + absl::Seconds(5));
  if (absl::IsNotFound(end.status())) {
    Note(absl::StrCat("[", name, " was removed]"));
    return kOk;
  }
  ABSL_RETURN_IF_ERROR(end.status());
  Note(absl::StrCat("[", name, " ", Describe(*end), "]"));
  return ExitCodeOf(*end).value_or(kFailed);
}

absl::StatusOr<int> Attach(const AttachOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const DetachKey key, DetachKey::Parse(options.detach_key));
  if (!IsTerminal(STDIN_FILENO) || !IsTerminal(STDOUT_FILENO)) {
    return WithHint(absl::FailedPreconditionError("input and output must be a terminal"),
                    "programs use 'berth send', 'berth capture' and 'berth logs'");
  }
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<SignalFd> signals, SignalFd::Create());
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  ABSL_ASSIGN_OR_RETURN(const VisitEnd end, VisitSession(session.get(), signals.get(), key));
  const std::string name = session->name();
  if (end.ended) return TellEnd(session.get(), name);
  Note(absl::StrCat("[detached from ", name, "; it runs on]"));
  return end.signal.has_value() ? 128 + *end.signal : kOk;
}

}  // namespace

void AddAttach(Cli* cli) {
  cli->Add({.name = "attach",
            .summary = "Look at a session and type into it; Ctrl-] leaves it running",
            .arguments = "[OPTIONS] NAME",
            .examples = {"berth attach fix-42", "berth attach fix-42 --detach-key C-q"}},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<AttachOptions>();
             arguments->Session(&options->name);
             arguments->Text("--detach-key", &options->detach_key, "KEY",
                             "Key that leaves the session (default: C-]), or none");
             return [options](Context& context) { return Attach(*options, context); };
           });
}

}  // namespace berth::cli
