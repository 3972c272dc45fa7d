#include "reaper/cli/options.h"

#include <unistd.h>

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "reaper/filter.h"

namespace berth::reaper {

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a time: write 30s, 10m, 2h or 7d"));
  double number;
  if (absl::string_view days = text; absl::ConsumeSuffix(&days, "d")) {
    if (!absl::SimpleAtod(days, &number) || !(number >= 0)) return wrong;
    return absl::Hours(24) * number;
  }
  if (absl::SimpleAtod(text, &number) && number >= 0) return absl::Seconds(number);
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration()) return wrong;
  return duration;
}

CLI::Option* AddDuration(CLI::App* app, const std::string& name, absl::Duration* value,
                         const std::string& help) {
  return app
      ->add_option_function<std::string>(
          name,
          [value, name](const std::string& text) {
            const absl::StatusOr<absl::Duration> parsed = ParseDuration(text);
            if (!parsed.ok())
              throw CLI::ValidationError(name, std::string(parsed.status().message()));
            *value = *parsed;
          },
          help)
      ->type_name("TIME");
}

void SweepFlags::AddTo(CLI::App* app) {
  app->add_option("--state-dir", state_dirs,
                  "State directory (may be given again; as root also other users': each is swept "
                  "as its owner). Default: $BERTH_STATE_DIR, $XDG_STATE_HOME/berth or "
                  "~/.local/state/berth")
      ->type_name("DIR");
  app->add_flag("--all-users", all_users,
                "As root: ~/.local/state/berth of every user in /etc/passwd");
  app->add_option("--only", only,
                  "Only sessions whose name or a label (KEY=VALUE) matches this RE2 expression")
      ->type_name("RE");
  app->add_option("--except", except, "Not those that match this one")->type_name("RE");
  AddDuration(app, "--older-than", &options.older_than, "Leave alone what is younger");
  AddDuration(app, "--forget-ended", &options.forget_ended,
              "Remove durable sessions that have ended, this long after they were made "
              "(default: never)");
  AddDuration(app, "--grace", &options.grace, "Time between TERM and KILL (default: 5s)");
  AddDuration(app, "--time-per-object", &options.time_per_object,
              "To end one thing and prove it gone (default: 30s)");
  AddDuration(app, "--time", &options.time, "For everything (default: 5m)");
  AddDuration(app, "--lock-wait", &options.lock_wait,
              "How long to wait for another reaper (default: 10s)");
  app->add_option_function<std::string>(
         "--adopt", [this](const std::string&) { options.adopt_codefly = true; },
         "Sweep what another program left in ~/.codefly/runs, by the same proofs")
      ->type_name("codefly")
      ->check(CLI::IsMember({"codefly"}));
  app->add_option("--metrics", metrics, "Write metrics in Prometheus text form to this file")
      ->type_name("FILE");
  app->add_flag("--json", json, "Print JSON, for programs");
  app->add_flag("-q,--quiet", quiet, "Print nothing if nothing was done and nothing is in doubt");
}

absl::Status SweepFlags::Finish() {
  ABSL_ASSIGN_OR_RETURN(options.filter, Filter::Make(only, except));
  if (all_users && geteuid() != 0) {
    return absl::InvalidArgumentError("--all-users is for root");
  }
  if (all_users && !state_dirs.empty()) {
    return absl::InvalidArgumentError("give --all-users or --state-dir, not both");
  }
  for (const std::string& dir : state_dirs) {
    if (dir.empty() || dir[0] != '/') {
      return absl::InvalidArgumentError(
          absl::StrCat("--state-dir '", dir, "': give an absolute path"));
    }
  }
  return absl::OkStatus();
}

}  // namespace berth::reaper
