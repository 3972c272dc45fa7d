// The manual page, in mdoc(7), from the same descriptions as --help.
#ifndef BERTH_REAPER_CLI_MAN_H_
#define BERTH_REAPER_CLI_MAN_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace berth::reaper {

struct ExitCode {
  int code;
  absl::string_view means;
};

// What comes behind a command's options in --help: examples, and the exit codes if there are any.
std::string Footer(const std::vector<ExitCode>& codes, const std::vector<std::string>& examples);

// Of all commands of `app`, whose examples are those in their footers.
std::string ManPage(const CLI::App& app, const std::vector<ExitCode>& codes);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_CLI_MAN_H_
