#include "tools/berth/commands.h"

#include <optional>

#include "absl/strings/string_view.h"
#include "sandbox/launcher/forked.h"
#include "tools/berth/cli.h"

namespace berth::cli {

int RunBerth(int argc, char** argv) {
  // While little is in memory yet, and beside all that follows.
  std::optional<launcher::ForkedLauncher> launcher;
  if (argc > 1 && absl::string_view(argv[1]) == "run") launcher.emplace(argv);
  Cli cli;
  // One that is most often run many times, and by scripts, does not wait for the others.
  if (launcher.has_value()) {
    AddRun(&cli);
    return cli.Main(argc, argv);
  }
  // In the order in which `berth --help` lists them.
  for (const auto add :
       {AddRun,    AddStart,  AddLs,         AddAttach,   AddSend,        AddKeys,       AddCapture,
        AddLogs,   AddExec,   AddWait,       AddKill,     AddRm,          AddChanges,    AddStats,
        AddTop,    AddRename, AddPorts,      AddAgentRun, AddAgentEvents, AddAgentUsage, AddPolicy,
        AddDoctor, AddSweep,  AddCompletion, AddMan,      AddVersion}) {
    add(&cli);
  }
  return cli.Main(argc, argv);
}

}  // namespace berth::cli
