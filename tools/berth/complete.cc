#include "tools/berth/complete.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/event_log.h"
#include "runtime/record/store.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/context.h"

namespace berth::cli {
namespace {

using Lines = std::vector<std::string>;

Lines SessionNames(const std::string& state_dir) {
  const absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(state_dir);
  if (!store.ok()) return {};
  Lines names;
  const absl::StatusOr<Listing> listing = (*store)->List();
  if (!listing.ok()) return {};
  for (const Record& record : listing->records) {
    names.push_back(absl::StrCat(record.name, "\t", record.backend, " session"));
  }
  return names;
}

Lines Values(const Argument& argument, const std::string& state_dir) {
  if (!argument.choices.empty()) return argument.choices;
  switch (argument.completion) {
    case Completion::kSession:
      return SessionNames(state_dir);
    case Completion::kRun:
      return ListRuns(state_dir).value_or(Lines{});
    case Completion::kFile:
      return {":file"};
    case Completion::kFolder:
      return {":folder"};
    case Completion::kNothing:
      break;
  }
  return {};
}

// Those that begin as `word` does; what the shell completes itself stays.
Lines Beginning(absl::string_view word, const Lines& lines, absl::string_view prefix = "") {
  Lines kept;
  for (const std::string& line : lines) {
    if (line[0] == ':') {
      kept.push_back(line);
    } else if (absl::StartsWith(line, word)) {
      kept.push_back(absl::StrCat(prefix, line));
    }
  }
  return kept;
}

// The first word of each command, or the second of those that begin with `family`.
Lines CommandWords(const Cli& cli, absl::string_view family) {
  Lines lines;
  for (const Cli::Command& command : cli.commands()) {
    if (command.info.hidden) continue;
    absl::string_view name = command.info.name;
    const size_t space = name.find(' ');
    if (family.empty() && space != absl::string_view::npos) {
      const std::string group =
          absl::StrCat(name.substr(0, space), "\tcommands about ", name.substr(0, space));
      if (lines.empty() || lines.back() != group) lines.push_back(group);
    } else if (family.empty() ||
               (space != absl::string_view::npos && name.substr(0, space) == family)) {
      if (!family.empty()) name.remove_prefix(space + 1);
      lines.push_back(absl::StrCat(name, "\t", command.info.summary));
      if (family.empty() && !command.info.alias.empty()) {
        lines.push_back(absl::StrCat(command.info.alias, "\t", command.info.summary));
      }
    }
  }
  return lines;
}

// Walks over the words of one command up to the one that is being typed.
class Walk {
 public:
  Walk(const Cli::Command& command, Context* context)
      : words_(command.info.words), context_(context) {
    auto [arguments, action] = Describe(command, context);
    arguments_ = std::move(arguments);
    action_ = std::move(action);
    for (const Argument& argument : arguments_.all()) {
      if (argument.named()) places_.push_back(&argument);
    }
  }

  void Pass(const std::string& word) {
    if (expects_ != nullptr) {
      Give(*expects_, word);
      expects_ = nullptr;
    } else if (behind_) {
      ++behind_words_;
    } else if (word == "--") {
      behind_ = true;
    } else if (word.size() > 1 && word[0] == '-') {
      const size_t equals = word.find('=');
      const Argument* option = Option(word.substr(0, equals));
      if (option == nullptr || option->type.empty()) return;
      if (equals == std::string::npos) {
        expects_ = option;
      } else {
        Give(*option, word.substr(equals + 1));
      }
    } else if (place_ < places_.size()) {
      if (!places_[place_]->repeated) ++place_;
    } else if (words_ == Words::kCommand) {
      behind_ = true;
      ++behind_words_;
    }
  }

  Lines Offer(const std::string& word) const {
    if (expects_ != nullptr) return Beginning(word, Values(*expects_, context_->state_dir));
    if (behind_) return Behind();
    const size_t equals = word.find('=');
    if (absl::StartsWith(word, "--") && equals != std::string::npos) {
      const Argument* option = Option(word.substr(0, equals));
      if (option == nullptr) return {};
      return Beginning(word.substr(equals + 1), Values(*option, context_->state_dir),
                       word.substr(0, equals + 1));
    }
    if (absl::StartsWith(word, "-")) return Beginning(word, Options());
    if (place_ < places_.size()) {
      return Beginning(word, Values(*places_[place_], context_->state_dir));
    }
    return Behind();
  }

 private:
  const Argument* Option(absl::string_view name) const {
    for (const Argument& argument : arguments_.all()) {
      const std::vector<std::string> names = argument.Names();
      if (std::find(names.begin(), names.end(), name) != names.end()) return &argument;
    }
    return nullptr;
  }

  // So that names are looked up where --state-dir says.
  void Give(const Argument& option, const std::string& value) {
    if (option.names == "--state-dir") option.set(value);
  }

  Lines Options() const {
    Lines lines;
    for (const Argument& argument : arguments_.all()) {
      if (argument.named()) continue;
      for (const std::string& name : argument.Names()) {
        if (absl::StartsWith(name, "--")) lines.push_back(absl::StrCat(name, "\t", argument.help));
      }
    }
    lines.push_back("--help\tShow help and exit");
    return lines;
  }

  Lines Behind() const {
    if (words_ != Words::kCommand) return {};
    return {behind_words_ == 0 ? ":command" : ":file"};
  }

  const Words words_;
  Context* const context_;
  Arguments arguments_;
  Cli::Action action_;  // owns what the arguments set
  std::vector<const Argument*> places_;
  size_t place_ = 0, behind_words_ = 0;
  bool behind_ = false;  // the words are not for berth any more
  const Argument* expects_ = nullptr;
};

}  // namespace

std::vector<std::string> Complete(const Cli& cli, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  if (words.size() == 1) {
    Lines lines = CommandWords(cli, "");
    lines.push_back("--help\tList the commands");
    lines.push_back("--version\tShow the version");
    return Beginning(words[0], lines);
  }
  size_t begin = 1;
  const Cli::Command* command = cli.Find(words[0]);
  if (command == nullptr && words.size() == 2) {
    return Beginning(words[1], CommandWords(cli, words[0]));
  }
  if (command == nullptr) {
    command = cli.Find(absl::StrCat(words[0], " ", words[1]));
    begin = 2;
  }
  if (command == nullptr) return {};
  Context context;
  Walk walk(*command, &context);
  for (size_t i = begin; i + 1 < words.size(); ++i) walk.Pass(words[i]);
  return walk.Offer(words.back());
}

}  // namespace berth::cli
