#include "tools/berth/commands.h"

#include "tools/berth/cli.h"

namespace berth::cli {

int RunBerth(int argc, char** argv) {
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
