// berth rm: ends sessions and removes all that they had.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/session_json.h"

namespace berth::cli {
namespace {

struct RmOptions {
  std::vector<std::string> names;
  bool all = false;
  absl::Duration grace = absl::Seconds(5);
};

absl::Status Remove(Context& context, const std::string& name, absl::Duration grace) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(name));
  return session->Destroy(grace);
}

absl::StatusOr<std::vector<std::string>> Chosen(const RmOptions& options, Context& context) {
  if (options.all == !options.names.empty()) {
    return UsageError("give the names of sessions, or --all");
  }
  if (!options.all) return options.names;
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, context.GetRuntime());
  ABSL_ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, runtime->List());
  std::vector<std::string> handles;
  for (const SessionInfo& info : sessions) handles.push_back(info.handle);
  return handles;
}

absl::StatusOr<int> Rm(const RmOptions& options, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> chosen, Chosen(options, context));
  std::vector<std::string> removed;
  absl::Status failure;
  // One that cannot be removed does not keep the others.
  for (const std::string& name : chosen) {
    absl::Status done = Remove(context, name, options.grace);
    if (done.ok()) {
      removed.push_back(name);
    } else if (failure.ok()) {
      failure = std::move(done);
    } else {
      Report("rm", done);
    }
  }
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"removed", Json::Array(removed)}}));
  }
  ABSL_RETURN_IF_ERROR(failure);
  return kOk;
}

}  // namespace

void AddRm(Cli* cli) {
  cli->Add(
      {.name = "rm",
       .summary = "End sessions and remove all that they had",
       .arguments = "[OPTIONS] NAME… | --all",
       .examples = {"berth rm fix-42", "berth rm --grace 30s web worker", "berth rm --all"},
       .json = true},
      [](Arguments* arguments) -> Cli::Action {
        auto options = std::make_shared<RmOptions>();
        arguments->Texts("NAME", &options->names, "", "Sessions").Completes(Completion::kSession);
        arguments->Flag("--all", &options->all, "All sessions of this state directory");
        AddDuration(arguments, "--grace", &options->grace,
                    "Time between TERM and KILL (default: 5s)");
        return [options](Context& context) { return Rm(*options, context); };
      });
}

}  // namespace berth::cli
