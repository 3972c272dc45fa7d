#include "tools/berth/run_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/process.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "tools/berth/arguments.h"
#include "tools/berth/blocked.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/foreground.h"
#include "tools/berth/options.h"
#include "tools/berth/output.h"
#include "tools/berth/program.h"
#include "tools/berth/pump.h"
#include "tools/berth/signal_fd.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

constexpr char kEndOfInput = '\x04';  // VEOF

// A terminal takes Ctrl-D for the end of input at the beginning of a line only; elsewhere the first
// one ends the line.
std::string TerminalFarewell(char last) { return std::string(last == '\n' ? 1 : 2, kEndOfInput); }

absl::StatusOr<std::unique_ptr<Process>> Started(absl::StatusOr<std::unique_ptr<Process>> process) {
  if (!process.ok()) return StartFailure(process.status());
  return process;
}

void TellBlocked(Process* process) {
  const absl::StatusOr<std::vector<Violation>> violations = process->Violations();
  if (violations.ok()) ReportBlocked(*violations);
}

absl::StatusOr<int> RunWithTerminal(ProcessSpec spec, absl::Duration grace, SignalFd* signals,
                                    const StartProcess& start) {
  spec.pty = true;
  spec.size = CurrentSize();
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, Started(start(spec)));
  ProcessProgram program(process.get());
  Foreground foreground(&program, signals, grace);
  std::unique_ptr<RawTerminal> raw;
  if (IsTerminal(STDIN_FILENO)) {
    ABSL_ASSIGN_OR_RETURN(raw, RawTerminal::Enter(STDIN_FILENO));
  }
  ABSL_ASSIGN_OR_RETURN(UniqueFd in, process->TakeStdin());
  ABSL_ASSIGN_OR_RETURN(UniqueFd out, process->TakeStdout());
  foreground.AddInput(STDIN_FILENO, std::move(in))->set_farewell(TerminalFarewell);
  foreground.AddOutput(std::move(out), STDOUT_FILENO);
  foreground.set_follows_size();
  ABSL_ASSIGN_OR_RETURN(const std::optional<ExitStatus> end, foreground.Run());
  raw.reset();
  TellBlocked(process.get());
  return ReportEnd(*end);
}

}  // namespace

void ForegroundOptions::AddTo(Arguments* arguments) {
  arguments->Choice(
      "--tty", &tty, {"auto", "always", "never"},
      "Give the command a terminal of its own (auto: if all three streams here are one)");
  AddDuration(arguments, "--grace", &grace,
              "Time between TERM and KILL, when it is asked to end (default: 5s)");
}

bool ForegroundOptions::WantsTerminal() const {
  return tty == "always" || (tty == "auto" && AllTerminals());
}

absl::StatusOr<int> ReportEnd(const ExitStatus& status) {
  const std::optional<int> code = ExitCodeOf(status);
  if (!code.has_value()) return absl::UnavailableError("the command has ended, but nobody saw how");
  if (*code == kTimedOut && status.reason != EndReason::kExited) {
    Note(absl::StrCat("berth: the command was stopped by its ", EndReasonName(status.reason),
                      " limit"));
  }
  return *code;
}

absl::StatusOr<int> RunProcess(ProcessSpec spec, const ForegroundOptions& options,
                               SignalFd* signals, const StartProcess& start) {
  if (options.WantsTerminal()) {
    return RunWithTerminal(std::move(spec), options.grace, signals, start);
  }
  // A terminal lets only its foreground group read, and the command leads a group of its own: so
  // berth reads for it.
  const bool relays = IsTerminal(STDIN_FILENO);
  spec.stdin_ = relays ? Stdio::Pipe() : Stdio::Fd(STDIN_FILENO);
  spec.stdout_ = Stdio::Fd(STDOUT_FILENO);
  spec.stderr_ = Stdio::Fd(STDERR_FILENO);
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, Started(start(spec)));
  ProcessProgram program(process.get());
  Foreground foreground(&program, signals, options.grace);
  if (relays) {
    ABSL_ASSIGN_OR_RETURN(UniqueFd in, process->TakeStdin());
    foreground.AddInput(STDIN_FILENO, std::move(in));
  }
  ABSL_ASSIGN_OR_RETURN(const std::optional<ExitStatus> end, foreground.Run());
  TellBlocked(process.get());
  return ReportEnd(*end);
}

}  // namespace berth::cli
