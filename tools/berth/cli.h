// Cli: the command line. Commands register themselves; it parses, runs the one that was asked for,
// and says what failed.
//
//   cli->Add({.name = "rename", .summary = "Give a session another name", .examples = {"berth
//             rename a b"}},
//            [](Arguments* arguments) -> Cli::Action {
//              auto options = std::make_shared<RenameOptions>();
//              arguments->Text("OLD", &options->old, "", "Session").Required();
//              return [options](Context& context) -> absl::StatusOr<int> { … };
//            });
//
// Only the options of the command that runs are built: start-up stays short however many commands
// there are.
#ifndef BERTH_TOOLS_BERTH_CLI_H_
#define BERTH_TOOLS_BERTH_CLI_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/context.h"

namespace berth::cli {

// "berth: command: why" and what to do next, on standard error.
void Report(absl::string_view command, const absl::Status& status);

class Cli {
 public:
  // The exit code, or what went wrong.
  using Action = std::function<absl::StatusOr<int>(Context&)>;
  // Adds the arguments of a command and returns what it does.
  using Setup = std::function<Action(Arguments*)>;

  struct Info {
    std::string name;  // may have two words: "ports free"
    std::string alias = {};
    std::string summary;
    std::string arguments = "[OPTIONS]";     // for the usage line
    std::vector<std::string> examples = {};  // two or three, without the prompt
    Words words = Words::kNone;
    bool json = false;    // has --json
    bool hidden = false;  // for programs: not in lists of commands
  };
  struct Command {
    Info info;
    Setup setup;
  };

  void Add(Info info, Setup setup) { commands_.push_back({std::move(info), std::move(setup)}); }
  const std::vector<Command>& commands() const { return commands_; }
  const Command* Find(absl::string_view name) const;
  // Everything from argv to the exit code.
  int Main(int argc, char** argv);

 private:
  // The command that `args` begins with, taken off it.
  absl::StatusOr<const Command*> TakeCommand(std::vector<std::string>* args) const;
  absl::StatusOr<int> Run(std::vector<std::string> args);
  absl::Status UnknownCommand(const std::vector<std::string>& args) const;

  std::vector<Command> commands_;
};

// What `command` takes, with what all commands take; values go to `context` and to the action that
// is returned.
std::pair<Arguments, Cli::Action> Describe(const Cli::Command& command, Context* context);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_CLI_H_
