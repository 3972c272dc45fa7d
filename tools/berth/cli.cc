#include "tools/berth/cli.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/help.h"
#include "tools/berth/output.h"
#include "tools/berth/suggest.h"

namespace berth::cli {
namespace {

constexpr absl::string_view kHead =
    "berth: a named, isolated, durable place to run for every program\n\n"
    "Usage: berth COMMAND [OPTIONS] …\n\nCommands:\n";
constexpr absl::string_view kFoot =
    "\nEvery command has --help with examples, and --state-dir DIR (default: $BERTH_STATE_DIR,\n"
    "$XDG_STATE_HOME/berth or ~/.local/state/berth). NAME is a session's name or handle.\n\n"
    "Examples:\n"
    "  berth run -- make test\n"
    "  berth start fix-42 -- claude\n"
    "  berth attach fix-42\n";

bool IsOption(absl::string_view word) { return word.size() > 1 && word[0] == '-'; }

// The command line's text for people in the words of this tool.
absl::Status UnknownOption(const CLI::App& app, absl::string_view option, Words words) {
  std::vector<std::string> known;
  for (const CLI::Option* each : app.get_options()) {
    for (const std::string& name : each->get_lnames()) known.push_back(absl::StrCat("--", name));
  }
  const std::string otherwise = words == Words::kNone
                                    ? absl::StrCat("try 'berth ", app.get_name(), " --help'")
                                    : "words that are not for berth go behind --";
  return WithHint(UsageError(absl::StrCat("unknown option '", option, "'")),
                  DidYouMean(option.substr(0, option.find('=')), known, otherwise));
}

// Whether help was asked for. Words that are not for berth are left in app->remaining().
absl::StatusOr<bool> Parse(CLI::App* app, std::vector<std::string> args, Words words) {
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  const std::string help = absl::StrCat("try 'berth ", app->get_name(), " --help'");
  try {
    app->parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extras = app->remaining();
    if (IsOption(extras[0])) return UnknownOption(*app, extras[0], words);
    return WithHint(UsageError(absl::StrCat("'", extras[0], "' is one argument too many")), help);
  } catch (const CLI::ParseError& error) {
    return WithHint(UsageError(error.what()), help);
  }
  return false;
}

// Splits off what stands behind the first "--".
std::vector<std::string> TakeTail(std::vector<std::string>* args) {
  const auto mark = std::find(args->begin(), args->end(), "--");
  if (mark == args->end()) return {};
  std::vector<std::string> tail(mark + 1, args->end());
  args->erase(mark, args->end());
  return tail;
}

}  // namespace

void Report(absl::string_view command, const absl::Status& status) {
  if (absl::IsAborted(status)) {
    return;  // the reader of the output went away and wants to know nothing
  }
  const bool colour = WantsColour(STDERR_FILENO);
  const std::string where = command.empty() ? "berth: " : absl::StrCat("berth: ", command, ": ");
  Note(absl::StrCat(Paint(where, Colour::kRed, colour), Printable(status.message())));
  if (const std::string hint = HintOf(status); !hint.empty()) {
    Note(absl::StrCat("  ", Printable(hint)));
  }
}

void Cli::Add(Info info, Setup setup) { entries_.push_back({std::move(info), std::move(setup)}); }

const Cli::Entry* Cli::Find(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.info.name == name || (!entry.info.alias.empty() && entry.info.alias == name)) {
      return &entry;
    }
  }
  return nullptr;
}

std::string Cli::Help() const {
  std::string help(kHead);
  for (const Entry& entry : entries_) {
    absl::StrAppendFormat(&help, "  %-11s %s\n", entry.info.name, entry.info.summary);
  }
  return absl::StrCat(help, kFoot);
}

absl::StatusOr<const Cli::Entry*> Cli::TakeCommand(std::vector<std::string>* args) const {
  for (const size_t words : {size_t{1}, size_t{2}}) {
    if (args->size() < words) break;
    const auto end = args->begin() + static_cast<ptrdiff_t>(words);
    const Entry* entry = Find(absl::StrJoin(args->begin(), end, " "));
    if (entry == nullptr) continue;
    args->erase(args->begin(), end);
    return entry;
  }
  return UnknownCommand(*args);
}

absl::Status Cli::UnknownCommand(const std::vector<std::string>& args) const {
  std::vector<std::string> names, family;
  for (const Entry& entry : entries_) {
    names.push_back(entry.info.name);
    if (!entry.info.alias.empty()) names.push_back(entry.info.alias);
    if (absl::StartsWith(entry.info.name, absl::StrCat(args[0], " "))) {
      family.push_back(entry.info.name);
    }
  }
  if (!family.empty()) {
    return WithHint(UsageError(absl::StrCat("'", args[0], "' is not a command by itself")),
                    absl::StrCat("there is: ", absl::StrJoin(family, ", ")));
  }
  return WithHint(UsageError(absl::StrCat("there is no command '", args[0], "'")),
                  DidYouMean(args[0], names, "'berth --help' lists the commands"));
}

absl::StatusOr<int> Cli::RunCommand(const Entry& entry, std::vector<std::string> args) {
  const Info& info = entry.info;
  CLI::App app(info.summary, info.name);
  Context context;
  app.set_help_flag("-h,--help", "Show this and exit");
  app.add_option("--state-dir", context.state_dir, "Where berth keeps its records")
      ->type_name("DIR");
  if (info.json) app.add_flag("--json", context.json, "Print JSON, for programs");
  const Action action = entry.setup(&app);
  if (info.words == Words::kCommand) app.prefix_command();
  if (info.words == Words::kText) app.allow_extras();

  std::vector<std::string> tail;
  if (info.words != Words::kNone) tail = TakeTail(&args);
  ABSL_ASSIGN_OR_RETURN(const bool help, Parse(&app, std::move(args), info.words));
  if (help) {
    ABSL_RETURN_IF_ERROR(Print(HelpText(app, info.arguments, info.examples)));
    return kOk;
  }
  if (info.words != Words::kNone) {
    context.words = app.remaining();
    for (const std::string& word : context.words) {
      if (IsOption(word)) return UnknownOption(app, word, info.words);
      if (info.words == Words::kCommand) break;  // the rest is the command's own
    }
    context.words.insert(context.words.end(), tail.begin(), tail.end());
  }
  return action(context);
}

absl::StatusOr<int> Cli::Run(std::vector<std::string> args) {
  if (args.empty()) {
    Note(Help());
    return kUsage;
  }
  if (args[0] == "help" && args.size() > 1) {
    args.erase(args.begin());
    args.push_back("--help");
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    ABSL_RETURN_IF_ERROR(Print(Help()));
    return kOk;
  }
  if (args[0] == "--version") args[0] = "version";
  ABSL_ASSIGN_OR_RETURN(const Entry* entry, TakeCommand(&args));
  absl::StatusOr<int> code = RunCommand(*entry, std::move(args));
  if (code.ok()) return code;
  Report(entry->info.name, code.status());
  return ExitCodeOf(code.status());
}

int Cli::Main(int argc, char** argv) {
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  const absl::StatusOr<int> code = Run(std::move(args));
  if (code.ok()) return *code;
  Report("", code.status());
  return ExitCodeOf(code.status());
}

}  // namespace berth::cli
