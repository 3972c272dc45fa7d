// berth completion: scripts for shells. They know nothing of the commands: `berth complete` tells
// them what there is, so that they are never older than the berth they complete.

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/berth/arguments.h"
#include "tools/berth/cli.h"
#include "tools/berth/commands.h"
#include "tools/berth/complete.h"
#include "tools/berth/context.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

// bash splits words at '=' too, and replaces only what stands behind it.
constexpr absl::string_view kBash =
    R"sh(# bash completion for berth. To have it now:  source <(berth completion bash)
_berth() {
  local -a words=()
  local word line value
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == = || ${words[-1]} == --*= ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  value=${words[-1]}
  [[ $value == --*=* ]] && value=${value#*=}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$value") ;;
      :folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$value") ;;
      :command) mapfile -t COMPREPLY < <(compgen -c -- "$value" | sort -u) ;;
      *)
        line=${line%%$'\t'*}
        [[ $line == --*=* ]] && line=${line#*=}
        COMPREPLY+=("$line")
        ;;
    esac
  done < <("$1" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _berth berth
)sh";

constexpr absl::string_view kZsh = R"sh(#compdef berth
# zsh completion for berth. To have it now:  source <(berth completion zsh)
_berth() {
  local line name
  local -a values
  for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :file) compset -P '--*='; _files ;;
      :folder) compset -P '--*='; _files -/ ;;
      :command) _command_names -e ;;
      ?*)
        name=${line%%$'\t'*}
        name=${name//\\/\\\\}
        if [[ $line == *$'\t'* ]]; then
          values+=("${name//:/\\:}:${line#*$'\t'}")
        else
          values+=("${name//:/\\:}")
        fi
        ;;
    esac
  done
  (( $#values )) && _describe -t values 'berth' values
}
if [[ $funcstack[1] == _berth ]]; then
  _berth "$@"
else
  compdef _berth berth
fi
)sh";

constexpr absl::string_view kFish =
    R"sh(# fish completion for berth. To have it now:  berth completion fish | source
function __berth_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l word "$(commandline -ct)"
    for line in ($program complete -- $words "$word" 2>/dev/null)
        switch $line
            case ':file'
                __fish_complete_path "$word"
            case ':folder'
                __fish_complete_directories "$word"
            case ':command'
                complete -C "$word"
            case '*'
                echo $line
        end
    end
end
complete -c berth -f -k -a '(__berth_complete)'
)sh";

absl::StatusOr<int> PrintScript(const std::string& shell) {
  ABSL_RETURN_IF_ERROR(Print(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish));
  return kOk;
}  // namespace

absl::StatusOr<int> PrintCompletions(const Cli& cli, Context& context) {
  for (const std::string& line : Complete(cli, context.words)) {
    ABSL_RETURN_IF_ERROR(Print(absl::StrCat(line, "\n")));
  }
  return kOk;
}

}  // namespace

void AddCompletion(Cli* cli) {
  cli->Add({.name = "completion",
            .summary = "Print a script that completes commands, options and names in a shell",
            .arguments = "bash|zsh|fish",
            .examples = {"source <(berth completion bash)   # in ~/.bashrc",
                         "berth completion zsh >~/.zfunc/_berth",
                         "berth completion fish >~/.config/fish/completions/berth.fish"}},
           [](Arguments* arguments) -> Cli::Action {
             auto shell = std::make_shared<std::string>();
             Argument& argument =
                 arguments->Choice("SHELL", shell.get(), {"bash", "zsh", "fish"}, "Which one");
             argument.Required();
             return [shell](Context&) { return PrintScript(*shell); };
           });
  cli->Add({.name = "complete",
            .summary = "What could stand at the end of a command line; for those scripts",
            .arguments = "[--] [WORD…]",
            .examples = {"berth complete -- start --ba"},
            .words = Words::kText,
            .hidden = true},
           [cli](Arguments*) -> Cli::Action {
             return [cli](Context& context) { return PrintCompletions(*cli, context); };
           });
}

}  // namespace berth::cli
