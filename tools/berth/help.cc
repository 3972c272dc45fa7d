#include "tools/berth/help.h"

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace berth::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kColumn = 24;  // where descriptions begin

// "-e, --set KEY[=VALUE]"
std::string Left(const CLI::Option& option) {
  if (option.get_positional()) return absl::StrCat("  ", option.get_name(true));
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(absl::StrCat("-", name));
  for (const std::string& name : option.get_lnames()) names.push_back(absl::StrCat("--", name));
  std::string left =
      absl::StrCat(option.get_snames().empty() ? "      " : "  ", absl::StrJoin(names, ", "));
  if (option.get_items_expected_max() > 0) {
    // CLI11 puts the checks of a value behind its type.
    const std::string type = option.get_type_name();
    absl::StrAppend(&left, " ", type.substr(0, type.find(':')));
  }
  return left;
}

void AppendOption(const CLI::Option& option, std::string* help) {
  std::string line = Left(option);
  if (line.size() + 2 > kColumn) {
    absl::StrAppend(help, line, "\n");
    line.clear();
  }
  line.resize(kColumn, ' ');
  bool begun = false;
  for (const absl::string_view word : absl::StrSplit(option.get_description(), ' ')) {
    if (begun && line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(help, line, "\n");
      line.assign(kColumn, ' ');
      begun = false;
    }
    absl::StrAppend(&line, begun ? " " : "", word);
    begun = true;
  }
  absl::StrAppend(help, line, "\n");
}

}  // namespace

std::string HelpText(const CLI::App& app, absl::string_view arguments,
                     const std::vector<std::string>& examples) {
  std::string help = absl::StrCat(app.get_description(), "\n\nUsage: berth ", app.get_name(), " ",
                                  arguments, "\n");
  std::string named, options;
  for (const CLI::Option* option : app.get_options()) {
    AppendOption(*option, option->get_positional() ? &named : &options);
  }
  if (!named.empty()) absl::StrAppend(&help, "\nArguments:\n", named);
  return absl::StrCat(help, "\nOptions:\n", options, "\nExamples:\n  ",
                      absl::StrJoin(examples, "\n  "), "\n");
}

}  // namespace berth::cli
