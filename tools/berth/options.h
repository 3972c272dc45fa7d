// Options whose values are more than text. A value that cannot be read is a usage error that names
// the option.
#ifndef BERTH_TOOLS_BERTH_OPTIONS_H_
#define BERTH_TOOLS_BERTH_OPTIONS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/env.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tools/berth/arguments.h"

namespace berth::cli {

// "10s", "1m30s", "500ms"; a plain number is seconds.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);
// "24x80": rows and columns.
absl::StatusOr<TerminalSize> ParseSize(absl::string_view text);
// "TERM", "SIGTERM" or "15".
absl::StatusOr<int> ParseSignal(absl::string_view text);

// "512M", "2G", "1048576".
absl::StatusOr<int64_t> ParseBytes(absl::string_view text);

Argument& AddDuration(Arguments* arguments, const std::string& names, absl::Duration* value,
                      const std::string& help);
Argument& AddSize(Arguments* arguments, const std::string& names, TerminalSize* value,
                  const std::string& help);
Argument& AddSignal(Arguments* arguments, const std::string& names, int* value,
                    const std::string& help);
Argument& AddBytes(Arguments* arguments, const std::string& names, int64_t* value,
                   const std::string& help);

// What is run and in which surroundings: the options that run, start and exec share.
class ProgramOptions {
 public:
  void AddTo(Arguments* arguments);
  // The same without --shell.
  void AddPlaceTo(Arguments* arguments);
  // Also where the environment starts from; exec has the session's.
  void AddEnvironmentTo(Arguments* arguments);

  // Fills in command, environment and directory of a ProcessSpec or a SessionSpec. `words` is the
  // command line's own command, unless --shell gives one.
  template <typename Spec>
  absl::Status FillIn(const std::vector<std::string>& words, Spec* spec) const {
    ABSL_ASSIGN_OR_RETURN(spec->command, ToCommand(words));
    ABSL_ASSIGN_OR_RETURN(spec->env, ToEnv());
    ABSL_ASSIGN_OR_RETURN(spec->cwd, Cwd());
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Command> ToCommand(const std::vector<std::string>& words) const;
  absl::StatusOr<Env> ToEnv() const;
  absl::StatusOr<std::string> Cwd() const;  // absolute; "" if none was given

  std::vector<std::string> set_;
  std::string base_ = "basic", cwd_, shell_;
};

// An absolute path for one that the caller gave from here.
absl::StatusOr<std::string> AbsolutePath(absl::string_view path);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_OPTIONS_H_
