// berth version: which berth this is.

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
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

absl::StatusOr<int> Version(Context& context) {
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"version", BERTH_VERSION}}));
  } else {
    ABSL_RETURN_IF_ERROR(Print("berth " BERTH_VERSION "\n"));
  }
  return kOk;
}

}  // namespace

void AddVersion(Cli* cli) {
  cli->Add({.name = "version",
            .summary = "Show the version",
            .examples = {"berth version", "berth version --json"},
            .json = true},
           [](Arguments*) -> Cli::Action { return Version; });
}

}  // namespace berth::cli
