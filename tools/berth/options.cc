#include "tools/berth/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "runtime/env.h"
#include "runtime/spec.h"
#include "sandbox/base/errno_status.h"
#include "tools/berth/arguments.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/suggest.h"

namespace berth::cli {
namespace {

// An option whose value `parse` makes of its text.
template <typename T>
Argument& AddParsed(Arguments* arguments, const std::string& names, T* value,
                    const std::string& type, const std::string& help,
                    absl::StatusOr<T> (*parse)(absl::string_view)) {
  return arguments->Add(names, type, help, [value, parse](const std::string& text) -> std::string {
    absl::StatusOr<T> parsed = parse(text);
    if (!parsed.ok()) return std::string(parsed.status().message());
    *value = *std::move(parsed);
    return "";
  });
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::Duration duration;
  double seconds;
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no duration; write 10s, 1m30s or 500ms"));
  }
  if (duration < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("a duration cannot be negative");
  }
  return duration;
}

absl::StatusOr<TerminalSize> ParseSize(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  uint32_t rows, cols;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &rows) ||
      !absl::SimpleAtoi(parts[1], &cols) || rows < 1 || rows > 1024 || cols < 1 || cols > 4096) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no size; write ROWSxCOLUMNS (up to 1024x4096), as in 24x80"));
  }
  return TerminalSize{static_cast<uint16_t>(rows), static_cast<uint16_t>(cols)};
}

absl::StatusOr<int> ParseSignal(absl::string_view text) {
  int number;
  if (absl::SimpleAtoi(text, &number) && number > 0 && number <= SIGRTMAX) return number;
  const std::string upper = absl::AsciiStrToUpper(text);
  const absl::string_view name = absl::StripPrefix(upper, "SIG");
  std::vector<std::string> names;
  for (number = 1; number < NSIG; ++number) {
    const char* known = sigabbrev_np(number);
    if (known == nullptr) continue;
    if (name == known) return number;
    names.push_back(known);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no signal is called '", text, "'; ", DidYouMean(name, names, "write TERM, SIGTERM or 15")));
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] : {std::pair("K", 10), {"M", 20}, {"G", 30}, {"T", 40}}) {
    if (absl::ConsumeSuffix(&digits, unit)) {
      shift = bits;
      break;
    }
  }
  int64_t number;
  if (!absl::SimpleAtoi(digits, &number) || number < 0 || number > (INT64_MAX >> shift)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no size; write 512M, 2G or a number of bytes"));
  }
  return number << shift;
}

Argument& AddDuration(Arguments* arguments, const std::string& names, absl::Duration* value,
                      const std::string& help) {
  return AddParsed(arguments, names, value, "TIME", help, ParseDuration);
}

Argument& AddSize(Arguments* arguments, const std::string& names, TerminalSize* value,
                  const std::string& help) {
  return AddParsed(arguments, names, value, "ROWSxCOLS", help, ParseSize);
}

Argument& AddSignal(Arguments* arguments, const std::string& names, int* value,
                    const std::string& help) {
  return AddParsed(arguments, names, value, "SIGNAL", help, ParseSignal);
}

Argument& AddBytes(Arguments* arguments, const std::string& names, int64_t* value,
                   const std::string& help) {
  return AddParsed(arguments, names, value, "SIZE", help, ParseBytes);
}

absl::StatusOr<std::string> AbsolutePath(absl::string_view path) {
  if (!path.empty() && path[0] == '/') return std::string(path);
  char here[PATH_MAX];
  if (getcwd(here, sizeof(here)) == nullptr) {
    return ErrnoStatus(errno, "find the working directory");
  }
  return path.empty() ? std::string(here) : absl::StrCat(here, "/", path);
}

void ProgramOptions::AddTo(Arguments* arguments) {
  AddPlaceTo(arguments);
  arguments->Text("--shell", &shell_, "LINE", "Run this line with /bin/sh instead of a command");
}

void ProgramOptions::AddPlaceTo(Arguments* arguments) {
  arguments->Texts("-e,--set", &set_, "KEY[=VALUE]",
                   "Set a variable, or copy it from here (-e KEY). May be repeated");
  arguments->Text("--cwd", &cwd_, "DIR", "Working directory of the command")
      .Completes(Completion::kFolder);
}

void ProgramOptions::AddEnvironmentTo(Arguments* arguments) {
  arguments->Choice(
      "--env", &base_, {"inherit", "basic", "clean"},
      "What the environment starts from: all of this one, what a shell needs (default), or "
      "nothing");
}

absl::StatusOr<Command> ProgramOptions::ToCommand(const std::vector<std::string>& words) const {
  if (!shell_.empty() && !words.empty()) return UsageError("give a command or --shell, not both");
  if (!shell_.empty()) return Command::Shell(shell_);
  if (words.empty()) {
    return WithHint(UsageError("no command was given"), "write it behind --, as in: -- make test");
  }
  return Command::Argv(words);
}

absl::StatusOr<Env> ProgramOptions::ToEnv() const {
  Env env = base_ == "inherit" ? Env::Inherit() : base_ == "clean" ? Env::Clean() : Env::Basic();
  for (const std::string& entry : set_) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    ABSL_RETURN_IF_ERROR(CheckEnvKey(parts.first));
    if (entry.size() > parts.first.size()) {
      env.Set(parts.first, parts.second);
    } else if (const char* value = getenv(entry.c_str()); value != nullptr) {
      env.Set(entry, value);
    }
  }
  return env;
}

absl::StatusOr<std::string> ProgramOptions::Cwd() const {
  if (cwd_.empty()) return std::string();
  return AbsolutePath(cwd_);
}

}  // namespace berth::cli
