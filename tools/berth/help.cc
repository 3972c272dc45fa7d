#include "tools/berth/help.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"

namespace berth::cli {
namespace {

constexpr absl::string_view kHead =
    "berth: a named, isolated, durable place to run for every program\n\n"
    "Usage: berth COMMAND [OPTIONS] …\n\nCommands:\n";
constexpr absl::string_view kFoot =
    "\nEvery command has --help with examples, and --state-dir DIR (default:\n"
    "$BERTH_STATE_DIR, $XDG_STATE_HOME/berth or ~/.local/state/berth).\n"
    "NAME is a session's name or handle.\n\n"
    "Examples:\n"
    "  berth run -- make test\n"
    "  berth start fix-42 -- claude\n"
    "  berth attach fix-42\n";

constexpr size_t kWidth = 80;
constexpr size_t kColumn = 24;  // where descriptions of options begin

// "  -e, --set KEY[=VALUE]"
std::string Left(const Argument& argument) {
  if (argument.named()) return absl::StrCat("  ", argument.names);
  const std::vector<std::string> names = argument.Names();
  std::string left =
      absl::StrCat(absl::StartsWith(names[0], "--") ? "      " : "  ", absl::StrJoin(names, ", "));
  if (!argument.type.empty()) absl::StrAppend(&left, " ", argument.type);
  return left;
}

// Two columns; the text in the second begins at `column` and is wrapped.
void AppendEntry(std::string line, absl::string_view text, size_t column, std::string* help) {
  if (line.size() + 2 > column) {
    absl::StrAppend(help, line, "\n");
    line.clear();
  }
  line.resize(column, ' ');
  bool begun = false;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (begun && line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(help, line, "\n");
      line.assign(column, ' ');
      begun = false;
    }
    absl::StrAppend(&line, begun ? " " : "", word);
    begun = true;
  }
  absl::StrAppend(help, line, "\n");
}

}  // namespace

std::string Overview(const Cli& cli) {
  size_t longest = 0;
  for (const Cli::Command& command : cli.commands()) {
    longest = std::max(longest, command.info.name.size());
  }
  std::string help(kHead);
  for (const Cli::Command& command : cli.commands()) {
    if (command.info.hidden) continue;
    const std::string also =
        command.info.alias.empty() ? "" : absl::StrCat(" (also: ", command.info.alias, ")");
    AppendEntry(absl::StrCat("  ", command.info.name), absl::StrCat(command.info.summary, also),
                longest + 4, &help);
  }
  return absl::StrCat(help, kFoot);
}

std::string HelpText(const Cli::Info& info, const Arguments& arguments) {
  std::string named, options;
  for (const Argument& argument : arguments.all()) {
    AppendEntry(Left(argument), argument.help, kColumn, argument.named() ? &named : &options);
  }
  AppendEntry("  -h, --help", "Show this and exit", kColumn, &options);
  std::string help =
      absl::StrCat(info.summary, "\n\nUsage: berth ", info.name, " ", info.arguments, "\n");
  if (!named.empty()) absl::StrAppend(&help, "\nArguments:\n", named);
  return absl::StrCat(help, "\nOptions:\n", options, "\nExamples:\n  ",
                      absl::StrJoin(info.examples, "\n  "), "\n");
}

}  // namespace berth::cli
