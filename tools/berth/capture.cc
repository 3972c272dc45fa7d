// berth capture: what a person would see.

#include <memory>
#include <string>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "runtime/session.h"
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

struct CaptureCommand {
  std::string name;
  CaptureOptions options;
};

absl::StatusOr<int> Capture(const CaptureCommand& command, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(command.name));
  ABSL_ASSIGN_OR_RETURN(const std::string text, session->Capture(command.options));
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"name", session->name()}, {"text", text}}));
  } else {
    ABSL_RETURN_IF_ERROR(Print(text));
  }
  return kOk;
}

}  // namespace

void AddCapture(Cli* cli) {
  cli->Add({.name = "capture",
            .summary = "Show a session's screen and scrollback as text",
            .arguments = "[OPTIONS] NAME",
            .examples = {"berth capture fix-42", "berth capture fix-42 -n 20",
                         "berth capture fix-42 --colour | less -R"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto command = std::make_shared<CaptureCommand>();
             arguments->Session(&command->name);
             arguments->Number("-n,--lines", &command->options.lines, "N",
                               "The last N lines (default: all that are kept)");
             // Asked for by name, so given whatever the output is.
             arguments->Flag("--colour,--color", &command->options.colour,
                             "With colours, as escape sequences");
             return [command](Context& context) { return Capture(*command, context); };
           });
}

}  // namespace berth::cli
