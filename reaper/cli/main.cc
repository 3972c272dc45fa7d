// berth-reaper: ends and removes what dead owners left. See docs/reaper.md.

#include <signal.h>
#include <stdio.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "reaper/cli/install.h"
#include "reaper/cli/man.h"
#include "reaper/cli/options.h"
#include "reaper/cli/sweep_command.h"
#include "reaper/report.h"
#include "reaper/watch.h"

namespace {

using berth::reaper::ExitCode;
using berth::reaper::Footer;
using berth::reaper::SweepFlags;

constexpr int kUsage = 2, kFailed = 125;

const std::vector<ExitCode>& ExitCodes() {
  static const auto* const codes = new std::vector<ExitCode>{
      {berth::reaper::kExitNothing, "nothing to do"},
      {berth::reaper::kExitDone, "done (or, in a dry run, something to do)"},
      {berth::reaper::kExitPartial, "something could not be done"},
      {berth::reaper::kExitDoubt, "something is left alone because its state is not known"},
      {berth::reaper::kExitBusy, "another reaper is at work"},
      {kUsage, "wrong usage"},
      {kFailed, "failed"},
  };
  return *codes;
}

int Report(const absl::StatusOr<int>& code) {
  if (code.ok()) return *code;
  fprintf(stderr, "berth-reaper: %s\n", std::string(code.status().message()).c_str());
  return absl::IsInvalidArgument(code.status()) ? kUsage : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  CLI::App app("berth-reaper: ends and removes what dead owners left behind, and nothing else",
               "berth-reaper");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Show this and exit");
  app.set_version_flag("--version", std::string("berth-reaper ") + BERTH_VERSION);

  SweepFlags flags;
  std::string explain;
  CLI::App* sweep = app.add_subcommand("sweep", "Look, decide, act, once");
  flags.AddTo(sweep);
  sweep->add_flag("-n,--dry-run", flags.options.dry_run,
                  "Tell every decision and its evidence; change nothing");
  sweep->add_flag("--all", flags.options.show_kept, "Tell of what is kept, too");
  sweep->add_option("--explain", explain, "Tell what would become of one session, and why")
      ->type_name("ID");
  sweep->footer(Footer(ExitCodes(),
                       {"berth-reaper sweep --dry-run", "berth-reaper sweep --explain fix-42",
                        "berth-reaper sweep --only '^ci-' --except 'keep=yes' --older-than 1h",
                        "sudo berth-reaper sweep --all-users --quiet --metrics /run/berth.prom"}));

  berth::reaper::WatchOptions watch_options;
  CLI::App* watch = app.add_subcommand("watch", "Sweep whenever an owner ends, until stopped");
  flags.AddTo(watch);
  berth::reaper::AddDuration(watch, "--every", &watch_options.every,
                             "Sweep after this time, too (default: never)");
  watch->footer(Footer(
      {}, {"berth-reaper watch --quiet", "berth-reaper watch --forget-ended 7d --every 1h"}));

  berth::reaper::InstallFlags install_flags;
  CLI::App* install = app.add_subcommand("install", "Have sweeps done by systemd or cron");
  install_flags.AddTo(install);
  install->footer(Footer(
      {}, {"berth-reaper install --user --timer", "sudo berth-reaper install --system --cron"}));
  CLI::App* uninstall = app.add_subcommand("uninstall", "Undo install");
  install_flags.AddTo(uninstall);
  CLI::App* man = app.add_subcommand("man", "Print the manual page");
  man->footer(Footer({}, {"berth-reaper man | man -l -"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (man->parsed()) {
    const std::string page = berth::reaper::ManPage(app, ExitCodes());
    return fputs(page.c_str(), stdout) < 0 || fflush(stdout) != 0 ? kFailed : 0;
  }
  if (install->parsed()) return Report(berth::reaper::Install(install_flags));
  if (uninstall->parsed()) return Report(berth::reaper::Uninstall(install_flags));
  if (const absl::Status flags_ok = flags.Finish(); !flags_ok.ok()) return Report(flags_ok);
  if (watch->parsed()) return Report(berth::reaper::RunWatch(flags, watch_options));
  if (!explain.empty()) return Report(berth::reaper::RunExplain(flags, explain));
  return Report(berth::reaper::RunSweep(flags));
}
