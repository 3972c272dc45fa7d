#include "tools/berth/cli.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/help.h"
#include "tools/berth/output.h"
#include "tools/berth/parse.h"
#include "tools/berth/suggest.h"

namespace berth::cli {
namespace {

absl::StatusOr<int> RunCommand(const Cli::Command& command, std::vector<std::string> args) {
  Context context;
  const auto [arguments, action] = Describe(command, &context);
  ABSL_ASSIGN_OR_RETURN(Parsed parsed,
                        Parse(command.info.name, arguments, command.info.words, std::move(args)));
  if (parsed.help) {
    ABSL_RETURN_IF_ERROR(Print(HelpText(command.info, arguments)));
    return kOk;
  }
  context.words = std::move(parsed.words);
  return action(context);
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

std::pair<Arguments, Cli::Action> Describe(const Cli::Command& command, Context* context) {
  Arguments arguments;
  Cli::Action action = command.setup(&arguments);
  if (command.info.json) arguments.Flag("--json", &context->json, "Print JSON, for programs");
  arguments.Text("--state-dir", &context->state_dir, "DIR", "Where berth keeps its records")
      .Completes(Completion::kFolder);
  return {std::move(arguments), std::move(action)};
}

const Cli::Command* Cli::Find(absl::string_view name) const {
  for (const Command& command : commands_) {
    const Info& info = command.info;
    if (info.name == name || (!info.alias.empty() && info.alias == name)) return &command;
  }
  return nullptr;
}

absl::StatusOr<const Cli::Command*> Cli::TakeCommand(std::vector<std::string>* args) const {
  for (const size_t words : {size_t{1}, size_t{2}}) {
    if (args->size() < words) break;
    const auto end = args->begin() + static_cast<ptrdiff_t>(words);
    const Command* command = Find(absl::StrJoin(args->begin(), end, " "));
    if (command == nullptr) continue;
    args->erase(args->begin(), end);
    return command;
  }
  return UnknownCommand(*args);
}

absl::Status Cli::UnknownCommand(const std::vector<std::string>& args) const {
  std::vector<std::string> names, family, words;
  for (const Command& command : commands_) {
    if (command.info.hidden) continue;
    names.push_back(command.info.name);
    if (!command.info.alias.empty()) names.push_back(command.info.alias);
    if (absl::StartsWith(command.info.name, absl::StrCat(args[0], " "))) {
      family.push_back(command.info.name);
      words.push_back(command.info.name.substr(args[0].size() + 1));
    }
  }
  if (!family.empty()) {
    const std::string all = absl::StrCat("there is: ", absl::StrJoin(family, ", "));
    if (args.size() > 1 && args[1] != "--help" && args[1] != "-h") {
      return WithHint(UsageError(absl::StrCat("there is no command '", args[0], " ", args[1], "'")),
                      DidYouMean(args[1], words, all));
    }
    return WithHint(UsageError(absl::StrCat("'", args[0], "' is not a command by itself")), all);
  }
  return WithHint(UsageError(absl::StrCat("there is no command '", args[0], "'")),
                  DidYouMean(args[0], names, "'berth --help' lists the commands"));
}

absl::StatusOr<int> Cli::Run(std::vector<std::string> args) {
  if (args.empty()) {
    Note(Overview(*this));
    return kUsage;
  }
  if (args[0] == "help" && args.size() > 1) {
    args.erase(args.begin());
    args.push_back("--help");
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    ABSL_RETURN_IF_ERROR(Print(Overview(*this)));
    return kOk;
  }
  if (args[0] == "--version") args[0] = "version";
  ABSL_ASSIGN_OR_RETURN(const Command* command, TakeCommand(&args));
  absl::StatusOr<int> code = RunCommand(*command, std::move(args));
  if (code.ok()) return code;
  Report(command->info.name, code.status());
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
