#include "tools/berth/parse.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/suggest.h"

namespace berth::cli {
namespace {

bool IsOption(absl::string_view word) { return word.size() > 1 && word[0] == '-'; }

void Describe(const Arguments& arguments, CLI::App* app) {
  std::map<std::string, CLI::Option*> made;
  for (const Argument& argument : arguments.all()) {
    // "--name: why", as CLI11 says it of its own checks.
    const auto set = [&argument](const std::string& value) {
      const std::string why = argument.set(value);
      if (!why.empty()) throw CLI::ValidationError(argument.names, why);
    };
    CLI::Option* option;
    if (argument.type.empty() && !argument.named()) {
      option = app->add_flag_callback(argument.names, [set] { set(""); });
    } else if (argument.repeated) {
      option = app->add_option_function<std::vector<std::string>>(
          argument.names, [set](const std::vector<std::string>& values) {
            for (const std::string& value : values) set(value);
          });
      // An option takes one word each time that it is given; an argument by its place, all there
      // are.
      if (!argument.named()) {
        option->expected(1)->allow_extra_args(false)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
      }
    } else {
      option = app->add_option_function<std::string>(argument.names, set);
    }
    if (argument.required) option->required();
    if (!argument.excluded.empty()) option->excludes(made.at(argument.excluded));
    made[argument.names] = option;
  }
}

absl::Status UnknownOption(absl::string_view command, const Arguments& arguments,
                           absl::string_view option, Words words) {
  std::vector<std::string> known;
  for (const Argument& argument : arguments.all()) {
    for (std::string& name : argument.Names()) {
      if (absl::StartsWith(name, "--")) known.push_back(std::move(name));
    }
  }
  const std::string otherwise = words == Words::kNone
                                    ? absl::StrCat("try 'berth ", command, " --help'")
                                    : "words that are not for berth go behind --";
  return WithHint(UsageError(absl::StrCat("unknown option '", option, "'")),
                  DidYouMean(option.substr(0, option.find('=')), known, otherwise));
}

// Splits off what stands behind the first "--".
std::vector<std::string> TakeTail(std::vector<std::string>* args) {
  const auto mark = std::find(args->begin(), args->end(), "--");
  if (mark == args->end()) return {};
  std::vector<std::string> tail(mark + 1, args->end());
  args->erase(mark, args->end());
  return tail;
}

// CLI11's own: whether help was asked for.
absl::StatusOr<bool> ParseWith(CLI::App* app, absl::string_view command, const Arguments& arguments,
                               Words words, std::vector<std::string> args) {
  std::reverse(args.begin(), args.end());  // it takes them from the back
  const std::string help = absl::StrCat("try 'berth ", command, " --help'");
  try {
    app->parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extras = app->remaining();
    if (IsOption(extras[0])) return UnknownOption(command, arguments, extras[0], words);
    return WithHint(UsageError(absl::StrCat("'", extras[0], "' is one argument too many")), help);
  } catch (const CLI::ParseError& error) {
    return WithHint(UsageError(error.what()), help);
  }
  return false;
}

}  // namespace

absl::StatusOr<Parsed> Parse(absl::string_view command, const Arguments& arguments, Words words,
                             std::vector<std::string> args) {
  CLI::App app;
  app.set_help_flag("-h,--help");
  Describe(arguments, &app);
  if (words == Words::kCommand) app.prefix_command();
  if (words == Words::kText) app.allow_extras();
  std::vector<std::string> tail;
  if (words != Words::kNone) tail = TakeTail(&args);
  Parsed parsed;
  ABSL_ASSIGN_OR_RETURN(parsed.help, ParseWith(&app, command, arguments, words, std::move(args)));
  if (parsed.help || words == Words::kNone) return parsed;
  parsed.words = app.remaining();
  for (const std::string& word : parsed.words) {
    if (IsOption(word)) return UnknownOption(command, arguments, word, words);
    if (words == Words::kCommand) break;  // the rest is the command's own
  }
  parsed.words.insert(parsed.words.end(), tail.begin(), tail.end());
  return parsed;
}

}  // namespace berth::cli
