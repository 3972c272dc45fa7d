// What a shell offers at a point of a command line of berth: from the table of commands, the
// records and nothing else, so that a Tab never waits for an engine.
#ifndef BERTH_TOOLS_BERTH_COMPLETE_H_
#define BERTH_TOOLS_BERTH_COMPLETE_H_

#include <string>
#include <vector>

#include "tools/berth/cli.h"

namespace berth::cli {

// `words` are those behind "berth"; the last is the one that is being typed, "" at a new word.
// One line each: a candidate for the whole word, or "candidate<TAB>what it is"; or what the shell
// completes by itself: ":file", ":folder", ":command" (the name of a program).
std::vector<std::string> Complete(const Cli& cli, const std::vector<std::string>& words);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_COMPLETE_H_
