// berth rename: another name for a session. Its handle stays.

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
#include "tools/berth/session_json.h"

namespace berth::cli {
namespace {

struct RenameOptions {
  std::string from, to;
};

absl::StatusOr<int> Rename(const RenameOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.from));
  ABSL_RETURN_IF_ERROR(session->Rename(options.to));
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"name", options.to}, {"handle", session->handle()}}));
  }
  return kOk;
}

}  // namespace

void AddRename(Cli* cli) {
  cli->Add({.name = "rename",
            .summary = "Give a session another name",
            .arguments = "[OPTIONS] OLD NEW",
            .examples = {"berth rename fix-42 fix-42-old", "berth rename native:0123abcd web"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<RenameOptions>();
             arguments->Text("OLD", &options->from, "", "Session")
                 .Required()
                 .Completes(Completion::kSession);
             arguments->Text("NEW", &options->to, "", "Its new name").Required();
             return [options](Context& context) { return Rename(*options, context); };
           });
}

}  // namespace berth::cli
