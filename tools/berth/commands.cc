#include "tools/berth/commands.h"

#include <optional>

#include "absl/strings/string_view.h"
#include "sandbox/launcher/start_helper.h"
#include "tools/berth/cli.h"

namespace berth::cli {

int RunBerth(int argc, char** argv) {
  // The longest part of a start, and the only one that does not depend on what is said here.
  std::optional<launcher::HelperAhead> helper;
  if (argc > 1 && absl::string_view(argv[1]) == "run") helper.emplace();
  Cli cli;
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
