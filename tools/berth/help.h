// The text of `berth --help` and `berth COMMAND --help`.
#ifndef BERTH_TOOLS_BERTH_HELP_H_
#define BERTH_TOOLS_BERTH_HELP_H_

#include <string>

#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"

namespace berth::cli {

// All commands.
std::string Overview(const Cli& cli);
// One of them. Lines have 80 columns, but for examples.
std::string HelpText(const Cli::Info& info, const Arguments& arguments);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_HELP_H_
