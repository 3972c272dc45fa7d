// The options of berth-reaper that more than one command has, and how they become a sweep's.
#ifndef BERTH_REAPER_CLI_OPTIONS_H_
#define BERTH_REAPER_CLI_OPTIONS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "reaper/options.h"

namespace berth::reaper {

// "10s", "1m30s", "2d"; a plain number is seconds.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

CLI::Option* AddDuration(CLI::App* app, const std::string& name, absl::Duration* value,
                         const std::string& help);

struct SweepFlags {
  std::vector<std::string> state_dirs;
  bool all_users = false;
  std::vector<std::string> only, except;
  std::string metrics;
  bool json = false;
  bool quiet = false;
  Options options;

  void AddTo(CLI::App* app);
  // Fills in what has to be checked. InvalidArgument that names the option.
  absl::Status Finish();
};

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CLI_OPTIONS_H_
