// berth doctor: what this machine gives berth, why not, and what to do.

#include "runtime/doctor/doctor.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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

Colour CheckColour(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return Colour::kGreen;
    case CheckState::kWeaker:
      return Colour::kYellow;
    case CheckState::kMissing:
      break;
  }
  return Colour::kRed;
}

absl::Status PrintChecks(const std::vector<Check>& checks) {
  Table table({"AREA", "WHAT", "STATE", "DETAIL"});
  for (const Check& check : checks) {
    table.Add({check.area, check.name, std::string(CheckStateName(check.state)),
               check.state == CheckState::kOk ? check.detail : check.reason},
              {Colour::kDim, Colour::kNone, CheckColour(check.state)});
  }
  ABSL_RETURN_IF_ERROR(PrintTable(table));
  // In full, since these are to be copied.
  for (const Check& check : checks) {
    if (check.state == CheckState::kOk) continue;
    ABSL_RETURN_IF_ERROR(
        Print(absl::StrCat("\n", check.name, ": ", check.reason, "\n  ", check.remedy, "\n")));
  }
  return absl::OkStatus();
}

absl::Status PrintChecksAsJson(const std::vector<Check>& checks) {
  std::vector<Json> all;
  for (const Check& check : checks) {
    all.push_back(Json{{"area", check.area},
                       {"name", check.name},
                       {"state", CheckStateName(check.state)},
                       {"detail", check.detail},
                       {"reason", check.reason},
                       {"remedy", check.remedy}});
  }
  return PrintJson({{"checks", Json::Array(all)}});
}

// Whether policies can be enforced here at all: in some tier, and with records.
bool Usable(const std::vector<Check>& checks) {
  bool tier = false, state = false;
  for (const Check& check : checks) {
    if (check.state == CheckState::kMissing) continue;
    tier |= check.area == "tiers";
    state |= check.area == "state";
  }
  return tier && state;
}

absl::StatusOr<int> ShowDoctor(Context& context) {
  const std::vector<Check> checks = Examine({.state_dir = context.state_dir});
  ABSL_RETURN_IF_ERROR(context.json ? PrintChecksAsJson(checks) : PrintChecks(checks));
  return Usable(checks) ? kOk : kFailed;
}

}  // namespace

void AddDoctor(Cli* cli) {
  cli->Add(
      {.name = "doctor",
       .summary = "Say what this machine gives berth, why not, and what to do",
       .examples = {"berth doctor",
                    "berth doctor --json | jq -r '.checks[] | select(.state != \"ok\").remedy'"},
       .json = true},
      [](Arguments*) -> Cli::Action { return ShowDoctor; });
}

}  // namespace berth::cli
