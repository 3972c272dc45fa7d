// The text of `berth COMMAND --help`.
#ifndef BERTH_TOOLS_BERTH_HELP_H_
#define BERTH_TOOLS_BERTH_HELP_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace berth::cli {

// `arguments` is what follows the command's name in the usage line. Lines have 80 columns, but for
// examples.
std::string HelpText(const CLI::App& app, absl::string_view arguments,
                     const std::vector<std::string>& examples);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_HELP_H_
