// berth sweep: what berth-reaper does, for this state directory.

#include "reaper/sweep.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "reaper/engines.h"
#include "reaper/filter.h"
#include "reaper/options.h"
#include "reaper/report.h"
#include "runtime/record/store.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

struct SweepOptions {
  std::vector<std::string> only, except;
  reaper::Options options;
};

absl::StatusOr<int> Sweep(const SweepOptions& given, Context& context) {
  reaper::Options options = given.options;
  ABSL_ASSIGN_OR_RETURN(options.filter, reaper::Filter::Make(given.only, given.except));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(context.state_dir));
  ABSL_ASSIGN_OR_RETURN(const reaper::Report report,
                        reaper::Sweep(*store, options, reaper::MakeEngines()));
  ABSL_RETURN_IF_ERROR(
      Print(context.json ? absl::StrCat(reaper::ToJson(report), "\n")
                         : reaper::ToText(report, options.dry_run, WantsColour(STDOUT_FILENO))));
  return reaper::ExitCodeOf(report);
}

}  // namespace

void AddSweep(Cli* cli) {
  cli->Add({.name = "sweep",
            .summary = "End and remove what dead owners left behind",
            .examples = {"berth sweep --dry-run", "berth sweep --only '^ci-' --older-than 1h"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<SweepOptions>();
             arguments->Flag("-n,--dry-run", &options->options.dry_run,
                             "Tell every decision and its evidence; change nothing");
             arguments->Texts("--only", &options->only, "RE",
                              "Only sessions whose name or a label (KEY=VALUE) matches");
             arguments->Texts("--except", &options->except, "RE", "Not those that match");
             AddDuration(arguments, "--older-than", &options->options.older_than,
                         "Leave alone what is younger");
             AddDuration(arguments, "--grace", &options->options.grace,
                         "Time between TERM and KILL (default: 5s)");
             return [options](Context& context) { return Sweep(*options, context); };
           });
}

}  // namespace berth::cli
