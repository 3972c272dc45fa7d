// berth man: the manual pages, in mdoc(7), from the same table as --help.

#include <ctype.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

constexpr absl::string_view kDate =
    "November 17, 2026";  // of the last change to what is fixed here

constexpr absl::string_view kShared = R"(.Pp
.Ar NAME
is a session's name, or its handle as
.Xr berth-start 1
printed it.
Names are exact, never prefixes.
Words behind
.Fl -
reach the command or the message byte for byte.
Results go to standard output, everything else for people to standard error.
.Sh ENVIRONMENT
.Bl -tag -width Ds
.It Ev BERTH_STATE_DIR
where berth keeps its records; else
.Pa $XDG_STATE_HOME/berth ,
else
.Pa ~/.local/state/berth
.It Ev DOCKER_HOST , Ev DOCKER_CONTEXT
where the engine of containers is
.It Ev NO_COLOR
no colour, also on terminals
.El
.Sh EXIT STATUS
.Bl -tag -width Ds
.It 0
done
.It 2
the command line is wrong
.It 124
a time limit passed
.It 125
berth itself could not do it
.It 126
the command is there but cannot be executed
.It 127
there is no such command
.El
.Pp
Commands that run a program end with its own code, or with 128 and the number
of the signal that ended it.
)";

// Text that is no markup: no escapes, no request at the beginning of a line, ASCII only.
std::string Plain(absl::string_view text) {
  std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"…", "..."}});
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out = absl::StrCat("\\&", out);
  return out;
}

// Words of a macro's line, quoted, since some words and punctuation mean something there.
std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(Plain(text), {{"\"", "\"\""}}), "\"");
}

// A sentence begins a line, as mdoc wants it, and no line is long.
std::string Sentences(absl::string_view text) {
  constexpr size_t kLongest = 78;
  std::vector<std::string> lines(1);
  bool ended = false;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (ended || line.size() + 1 + word.size() > kLongest) {
      lines.emplace_back(word);
    } else {
      absl::StrAppend(&line, " ", word);
    }
    ended = absl::EndsWith(word, ".");
  }
  for (std::string& line : lines) line = Plain(line);
  return absl::StrJoin(lines, "\n");
}

std::string PageName(absl::string_view command) {
  return absl::StrCat("berth-", absl::StrReplaceAll(command, {{" ", "-"}}));
}

std::string Head(absl::string_view page, absl::string_view summary) {
  std::string lower(summary);
  if (lower.size() > 1 && islower(lower[1])) lower[0] = absl::ascii_tolower(lower[0]);
  return absl::StrCat(".Dd ", kDate, "\n.Dt ", absl::AsciiStrToUpper(page),
                      " 1\n.Os\n.Sh NAME\n.Nm ", page, "\n.Nd ", Plain(lower), "\n");
}

void AppendArgument(const Argument& argument, std::string* page) {
  absl::StrAppend(page, ".It");
  if (argument.named()) {
    absl::StrAppend(page, " Ar ", Quote(argument.names));
  } else {
    std::vector<std::string> names;
    for (const std::string& name : argument.Names()) {
      names.push_back(absl::StrCat(" Fl ", name.substr(1)));
    }
    absl::StrAppend(page, absl::StrJoin(names, " ,"));
    if (!argument.type.empty()) absl::StrAppend(page, " Ar ", Quote(argument.type));
  }
  absl::StrAppend(page, "\n", Sentences(argument.help), "\n");
}

std::string CommandPage(const Cli::Command& command) {
  const Cli::Info& info = command.info;
  Context context;
  const auto [arguments, action] = Describe(command, &context);
  std::string page = Head(PageName(info.name), info.summary);
  absl::StrAppend(&page, ".Sh SYNOPSIS\n.Nm berth ", info.name, "\n", Plain(info.arguments),
                  "\n.Sh DESCRIPTION\n", Sentences(info.summary), ".\n.Bl -tag -width Ds\n");
  for (const Argument& argument : arguments.all()) AppendArgument(argument, &page);
  absl::StrAppend(&page, ".It Fl h , Fl -help\nShow a summary and exit\n.El\n.Sh EXAMPLES\n",
                  ".Bd -literal -offset indent\n");
  for (const std::string& example : info.examples) absl::StrAppend(&page, Plain(example), "\n");
  return absl::StrCat(page, ".Ed\n.Sh SEE ALSO\n.Xr berth 1\n");
}

std::string OverviewPage(const Cli& cli) {
  std::string page = Head("berth", "a named, isolated, durable place to run for every program");
  absl::StrAppend(&page,
                  ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Sh DESCRIPTION\nThe commands "
                  "are:\n.Bl -tag -width Ds\n");
  std::vector<std::string> pages;
  for (const Cli::Command& command : cli.commands()) {
    if (command.info.hidden) continue;
    absl::StrAppend(&page, ".It Ic ", Quote(command.info.name), "\n", Plain(command.info.summary),
                    "\n");
    pages.push_back(PageName(command.info.name));
  }
  std::sort(pages.begin(), pages.end());
  absl::StrAppend(&page, ".El\n", kShared, ".Sh SEE ALSO\n");
  for (const std::string& each : pages) {
    absl::StrAppend(&page, ".Xr ", each, " 1", each == pages.back() ? "\n" : " ,\n");
  }
  return page;
}

absl::StatusOr<int> PrintPage(const Cli& cli, const std::vector<std::string>& words) {
  if (words.empty()) {
    ABSL_RETURN_IF_ERROR(Print(OverviewPage(cli)));
    return kOk;
  }
  const std::string name = absl::StrJoin(words, " ");
  const Cli::Command* command = cli.Find(name);
  if (command == nullptr) return UsageError(absl::StrCat("there is no command '", name, "'"));
  ABSL_RETURN_IF_ERROR(Print(CommandPage(*command)));
  return kOk;
}

}  // namespace

void AddMan(Cli* cli) {
  cli->Add({.name = "man",
            .summary = "Print a manual page: of a command, or of berth",
            .arguments = "[COMMAND]",
            .examples = {"berth man run | man -l -", "berth man >berth.1"},
            .words = Words::kText},
           [cli](Arguments*) -> Cli::Action {
             return [cli](Context& context) { return PrintPage(*cli, context.words); };
           });
}

}  // namespace berth::cli
