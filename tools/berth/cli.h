// Cli: the command line. Commands register themselves; it parses, runs the one that was asked for,
// and says what failed.
//
//   cli.Add({.name = "rename", .summary = "Give a session another name", .examples = "berth rename
//   a b"},
//           [](CLI::App* app) -> Cli::Action {
//             auto options = std::make_shared<Options>();
//             app->add_option("old", options->old)->required();
//             return [options](Context& context) -> absl::StatusOr<int> { … };
//           });
//
// Only the options of the command that runs are built: start-up stays short however many commands
// there are.
#ifndef BERTH_TOOLS_BERTH_CLI_H_
#define BERTH_TOOLS_BERTH_CLI_H_

#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/berth/context.h"

namespace berth::cli {

// What a command takes besides options and named arguments. Such words reach it byte for byte, as
// Context::words.
enum class Words : uint8_t {
  kNone,
  kCommand,  // a command to run: begins behind `--`, or at the first word that is no option
  kText,     // words; options may stand between them until `--`
};

// "berth: command: why" and what to do next, on standard error.
void Report(absl::string_view command, const absl::Status& status);

class Cli {
 public:
  // The exit code, or what went wrong.
  using Action = std::function<absl::StatusOr<int>(Context&)>;
  // Adds the options of a command and returns what it does.
  using Setup = std::function<Action(CLI::App*)>;

  struct Info {
    std::string name;  // may have two words: "ports free"
    std::string alias = {};
    std::string summary;
    std::string arguments = "[OPTIONS]";     // for the usage line
    std::vector<std::string> examples = {};  // two or three, without the prompt
    Words words = Words::kNone;
    bool json = false;  // has --json
  };

  void Add(Info info, Setup setup);
  // Everything from argv to the exit code.
  int Main(int argc, char** argv);

 private:
  struct Entry {
    Info info;
    Setup setup;
  };

  const Entry* Find(absl::string_view name) const;
  // The command that `args` begins with, taken off it.
  absl::StatusOr<const Entry*> TakeCommand(std::vector<std::string>* args) const;
  absl::StatusOr<int> Run(std::vector<std::string> args);
  absl::StatusOr<int> RunCommand(const Entry& entry, std::vector<std::string> args);
  absl::Status UnknownCommand(const std::vector<std::string>& args) const;
  std::string Help() const;

  std::vector<Entry> entries_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_CLI_H_
