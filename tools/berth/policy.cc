// berth policy: what a policy says, and whether this machine can enforce it.

#include "sandbox/policy.h"

#include <stdlib.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/compile.h"
#include "sandbox/tiers.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/output.h"
#include "tools/berth/policy_options.h"
#include "tools/berth/session_json.h"

namespace berth::cli {
namespace {

absl::StatusOr<int> Show(const PolicyOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<Policy> policy, options.ToPolicy("", false));
  if (!policy.has_value()) return UsageError("give --preset, --policy or another option of run");
  ABSL_RETURN_IF_ERROR(Print(policy->ToText()));
  return kOk;
}

absl::StatusOr<int> Check(const std::string& file, Context& context) {
  ABSL_ASSIGN_OR_RETURN(const Policy policy, ReadPolicy(file));
  CompileOptions options;
  const char* home = getenv("HOME");
  if (home != nullptr) options.home = home;
  // What a session gives it.
  options.changes_dir = "/changes";
  options.proxy_token = "token";
  PolicyCompiler compiler(TierReport::Probe());
  ABSL_ASSIGN_OR_RETURN(const CompiledPolicy compiled, compiler.Compile(policy, options));
  if (context.json) {
    ABSL_RETURN_IF_ERROR(PrintJson({{"tier", std::string(TierName(compiled.tier))},
                                    {"weaker", Json::Array(compiled.weaker)},
                                    {"hash", policy.hash()}}));
    return kOk;
  }
  ABSL_RETURN_IF_ERROR(Print(absl::StrCat("ok: tier ", TierName(compiled.tier), "\n")));
  for (const std::string& weaker : compiled.weaker) {
    ABSL_RETURN_IF_ERROR(Print(absl::StrCat("weaker: ", weaker, "\n")));
  }
  return kOk;
}

}  // namespace

void AddPolicy(Cli* cli) {
  cli->Add({.name = "policy show",
            .summary = "Print a policy as a file for --policy",
            .examples = {"berth policy show --preset agent >agent.json",
                         "berth policy show --preset build --net allow:github.com --mem 4G"}},
           [](Arguments* arguments) -> Cli::Action {
             auto options = std::make_shared<PolicyOptions>();
             options->AddTo(arguments);
             return [options](Context&) { return Show(*options); };
           });
  cli->Add({.name = "policy check",
            .summary = "Say whether this machine can enforce a policy, and how",
            .arguments = "[OPTIONS] FILE",
            .examples = {"berth policy check agent.json"},
            .json = true},
           [](Arguments* arguments) -> Cli::Action {
             auto file = std::make_shared<std::string>();
             arguments->Text("FILE", file.get(), "", "As 'policy show' prints it")
                 .Required()
                 .Completes(Completion::kFile);
             return [file](Context& context) { return Check(*file, context); };
           });
}

}  // namespace berth::cli
