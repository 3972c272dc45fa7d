// berth man: the manual pages, in mdoc(7), from the same table as --help.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"
#include "tools/mdoc/mdoc.h"

namespace berth::cli {
namespace {

using mdoc::Head;
using mdoc::Plain;
using mdoc::Quote;
using mdoc::Sentences;

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

std::string PageName(absl::string_view command) {
  return absl::StrCat("berth-", absl::StrReplaceAll(command, {{" ", "-"}}));
}

void AppendArgument(const Argument& argument, std::string* page) {
  if (argument.named()) {
    absl::StrAppend(page, ".It Ar ", Quote(argument.names), "\n", Sentences(argument.help), "\n");
  } else {
    absl::StrAppend(page, mdoc::Option(argument.Names(), argument.type, argument.help));
  }
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
  pages.emplace_back("berth-reaper");
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
