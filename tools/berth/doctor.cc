// berth doctor: what this machine can enforce, why not, and what to do.

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sandbox/tiers.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

Colour StateColour(Ability::State state) {
  switch (state) {
    case Ability::State::kOk:
      return Colour::kGreen;
    case Ability::State::kWeaker:
      return Colour::kYellow;
    case Ability::State::kMissing:
      break;
  }
  return Colour::kRed;
}

absl::Status PrintReport(const TierReport& report) {
  Table table({"WHAT", "STATE", "DETAIL"});
  for (const auto& [name, ability] : report.All()) {
    table.Add({name, std::string(AbilityStateName(ability.state)),
               ability.state == Ability::State::kOk ? ability.detail : ability.reason},
              {Colour::kNone, StateColour(ability.state)});
  }
  ABSL_RETURN_IF_ERROR(PrintTable(table));
  // In full, since these are to be copied.
  for (const auto& [name, ability] : report.All()) {
    if (ability.state == Ability::State::kOk) continue;
    ABSL_RETURN_IF_ERROR(Print(
        absl::StrCat("\n", name, ": ", ability.reason, "\n  remedy: ", ability.remedy, "\n")));
  }
  return absl::OkStatus();
}

absl::Status PrintReportAsJson(const TierReport& report) {
  Json all = Json::array();
  for (const auto& [name, ability] : report.All()) {
    all.push_back({{"what", name},
                   {"state", std::string(AbilityStateName(ability.state))},
                   {"detail", ability.detail},
                   {"reason", ability.reason},
                   {"remedy", ability.remedy}});
  }
  return PrintJson({{"abilities", all},
                    {"landlock_version", report.landlock_version},
                    {"cgroups", report.cgroups.layout}});
}

absl::StatusOr<int> Doctor(Context& context) {
  const TierReport report = TierReport::Probe();
  ABSL_RETURN_IF_ERROR(context.json ? PrintReportAsJson(report) : PrintReport(report));
  return report.tier(Tier::kAuto).state == Ability::State::kMissing ? kFailed : kOk;
}

}  // namespace

void AddDoctor(Cli* cli) {
  cli->Add({.name = "doctor",
            .summary = "Say what this machine can enforce of a policy, why not, and what to do",
            .examples = {"berth doctor",
                         "berth doctor --json | jq '.abilities[] | select(.state != \"ok\")'"},
            .json = true},
           [](CLI::App*) -> Cli::Action { return Doctor; });
}

}  // namespace berth::cli
