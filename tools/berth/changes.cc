// berth changes: what a session changed in its copy-on-write workspace, and what becomes of it.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/change.h"
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

struct ChangesOptions {
  std::string name;
  std::vector<std::string> paths;
  bool keep = false;
  bool discard = false;
};

absl::Status PrintChanges(const std::vector<Change>& changes, bool json) {
  if (json) {
    std::vector<Json> list;
    for (const Change& change : changes) {
      list.push_back({{"kind", ChangeKindName(change.kind)},
                      {"type", ChangeTypeName(change.type)},
                      {"path", change.path},
                      {"folder", change.folder},
                      {"bytes", change.bytes}});
    }
    return PrintJson({{"changes", Json::Array(list)}});
  }
  std::string text;
  for (const Change& change : changes) {
    // Names are a program's own: with a line end in one, a list of lines would lie.
    absl::StrAppend(&text, ChangeKindName(change.kind), " ", ChangeTypeName(change.type), " ",
                    Printable(change.path), "\n");
  }
  return Print(text);
}

absl::StatusOr<int> Changes(const ChangesOptions& options, Context& context) {
  if (options.keep && options.discard) return UsageError("give --keep or --discard, not both");
  if (!options.paths.empty() && !options.keep) {
    return UsageError("paths are for --keep: all are listed, and all are discarded");
  }
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, context.OpenSession(options.name));
  if (options.discard) {
    ABSL_RETURN_IF_ERROR(session->DiscardChanges());
  } else if (options.keep) {
    ABSL_RETURN_IF_ERROR(session->KeepChanges(options.paths));
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<Change> changes, session->Changes());
  // After --keep or --discard: those that are left.
  ABSL_RETURN_IF_ERROR(PrintChanges(changes, context.json));
  return kOk;
}

}  // namespace

void AddChanges(Cli* cli) {
  cli->Add(
      {.name = "changes",
       .summary = "List, keep or discard what a session changed in its copy-on-write workspace",
       .arguments = "[OPTIONS] NAME [PATH…]",
       .examples = {"berth run --workspace cow --name try -- claude", "berth changes try",
                    "berth changes try --keep src README.md", "berth changes try --discard"},
       .json = true},
      [](Arguments* arguments) -> Cli::Action {
        auto options = std::make_shared<ChangesOptions>();
        arguments->Session(&options->name);
        arguments->Texts("PATH", &options->paths, "", "Keep only these, and what is in them");
        arguments->Flag("--keep", &options->keep,
                        "Make them in the workspace; refused, all of them, where one of them "
                        "was changed by others meanwhile");
        arguments->Flag("--discard", &options->discard, "Forget them");
        return [options](Context& context) { return Changes(*options, context); };
      });
}

}  // namespace berth::cli
