// berth-reaper install and uninstall: sweeps by systemd or cron. Writes files and nothing else;
// what has to be run for them to take effect at once is printed.
#ifndef BERTH_REAPER_CLI_INSTALL_H_
#define BERTH_REAPER_CLI_INSTALL_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace berth::reaper {

struct InstallFlags {
  bool user = false, system = false;                // one of them
  bool timer = false, cron = false, watch = false;  // one at most; default: timer
  std::string root;  // in front of every path written: for packages, images and tests

  void AddTo(CLI::App* app);
};

// Writes the files; those that are there with other content are not replaced: AlreadyExists.
absl::StatusOr<int> Install(const InstallFlags& flags);
// Removes what Install writes, of every kind; fine if nothing is there.
absl::StatusOr<int> Uninstall(const InstallFlags& flags);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CLI_INSTALL_H_
