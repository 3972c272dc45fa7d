#include "reaper/cli/man.h"

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tools/mdoc/mdoc.h"

namespace berth::reaper {
namespace {

constexpr absl::string_view kExamples = "Examples:\n";

constexpr absl::string_view kAbout = R"(.Pp
It ends process trees and removes containers, tmux sessions, cgroups, sockets
and folders whose owners are proven dead.
It never signals by a bare pid or process group, never acts on what is not
known, and never touches what another installation, machine or user made.
Any number of reapers may run at once: one sweeps, the others wait for it.
)";

constexpr absl::string_view kEnvironment = R"(.Sh ENVIRONMENT
.Bl -tag -width Ds
.It Ev BERTH_STATE_DIR
the directory that is swept; else
.Pa $XDG_STATE_HOME/berth ,
else
.Pa ~/.local/state/berth
.It Ev DOCKER_HOST , Ev DOCKER_CONTEXT
where the engine of containers is
.It Ev NO_COLOR
no colour, also on terminals
.El
)";

// Lines of at most 78 columns: CLI11 breaks what is longer than 80, in the midst of words.
std::string Wrapped(absl::string_view text) {
  std::string out, line;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > 78) {
      absl::StrAppend(&out, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(out, line, "\n");
}

void AppendOptions(const CLI::App& command, std::string* page) {
  absl::StrAppend(page, ".Bl -tag -width Ds\n");
  for (const CLI::Option* option : command.get_options()) {
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    // A flag has no type but CLI11's own, which puts what a value is checked by behind a colon.
    const bool is_flag = option->get_expected_max() == 0;
    const std::string type = option->get_type_name();
    absl::StrAppend(page, mdoc::Option(names, is_flag ? "" : type.substr(0, type.find(':')),
                                       option->get_description()));
  }
  absl::StrAppend(page, ".El\n");
}

}  // namespace

std::string Footer(const std::vector<ExitCode>& codes, const std::vector<std::string>& examples) {
  std::string footer;
  if (!codes.empty()) {
    const auto show = [](std::string* out, const ExitCode& each) {
      absl::StrAppend(out, each.code, " ", each.means);
    };
    footer = Wrapped(absl::StrCat("Exit codes: ", absl::StrJoin(codes, "; ", show), ".")) + "\n";
  }
  absl::StrAppend(&footer, kExamples);
  for (const std::string& example : examples) absl::StrAppend(&footer, "  ", example, "\n");
  return footer;
}

std::string ManPage(const CLI::App& app, const std::vector<ExitCode>& codes) {
  const std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App*) { return true; });
  const std::string about(
      absl::StripPrefix(app.get_description(), absl::StrCat(app.get_name(), ": ")));
  std::string page = mdoc::Head(app.get_name(), about);
  absl::StrAppend(&page, ".Sh SYNOPSIS\n");
  for (const CLI::App* command : commands) {
    absl::StrAppend(&page, ".Nm\n.Cm ", command->get_name(), "\n.Op Ar options\n");
  }
  absl::StrAppend(&page, ".Sh DESCRIPTION\n.Nm\n", mdoc::Sentences(about), ".\n", kAbout);
  std::string examples;
  for (const CLI::App* command : commands) {
    absl::StrAppend(&page, ".Ss ", command->get_name(), "\n",
                    mdoc::Sentences(command->get_description()), ".\n");
    AppendOptions(*command, &page);
    const std::string footer = command->get_footer();
    const size_t at = footer.find(kExamples);
    if (at == std::string::npos) continue;
    for (const absl::string_view line :
         absl::StrSplit(footer.substr(at + kExamples.size()), '\n', absl::SkipEmpty())) {
      absl::StrAppend(&examples, mdoc::Plain(absl::StripPrefix(line, "  ")), "\n");
    }
  }
  absl::StrAppend(&page, kEnvironment, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
  for (const ExitCode& each : codes) {
    absl::StrAppend(&page, ".It ", each.code, "\n", mdoc::Sentences(each.means), "\n");
  }
  return absl::StrCat(page, ".El\n.Sh EXAMPLES\n.Bd -literal -offset indent\n", examples,
                      ".Ed\n.Sh SEE ALSO\n.Xr berth 1 ,\n.Xr berth-sweep 1\n");
}

}  // namespace berth::reaper
