// Runs one command to its end with the caller's own streams: what `run`, `exec` and `ports lease`
// have in common.
#ifndef BERTH_TOOLS_BERTH_RUN_COMMAND_H_
#define BERTH_TOOLS_BERTH_RUN_COMMAND_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/process.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tools/berth/arguments.h"
#include "tools/berth/signal_fd.h"

namespace berth::cli {

// Whether the command gets a terminal, and how long it is given to end.
struct ForegroundOptions {
  void AddTo(Arguments* arguments);
  bool WantsTerminal() const;

  std::string tty = "auto";
  absl::Duration grace = absl::Seconds(5);
};

using StartProcess = std::function<absl::StatusOr<std::unique_ptr<Process>>(const ProcessSpec&)>;

// Fills in the streams of `spec`, starts it with `start` and stays until it has ended. With a
// terminal, its own PTY and ours in raw mode; without, our descriptors themselves, so that nothing
// stands between the command and its files.
absl::StatusOr<int> RunProcess(ProcessSpec spec, const ForegroundOptions& options,
                               SignalFd* signals, const StartProcess& start);

// The code of a command that ended, with a word on standard error where the code alone does not say
// why.
absl::StatusOr<int> ReportEnd(const ExitStatus& status);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_RUN_COMMAND_H_
