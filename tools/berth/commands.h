// The commands, each in the file of its name. Each adds itself to the command line.
#ifndef BERTH_TOOLS_BERTH_COMMANDS_H_
#define BERTH_TOOLS_BERTH_COMMANDS_H_

#include "tools/berth/cli.h"

namespace berth::cli {

void AddRun(Cli* cli);
void AddStart(Cli* cli);
void AddLs(Cli* cli);
void AddAttach(Cli* cli);
void AddSend(Cli* cli);
void AddKeys(Cli* cli);
void AddCapture(Cli* cli);
void AddLogs(Cli* cli);
void AddExec(Cli* cli);
void AddWait(Cli* cli);
void AddKill(Cli* cli);
void AddRm(Cli* cli);
void AddStats(Cli* cli);
void AddRename(Cli* cli);
void AddPorts(Cli* cli);
void AddAgentRun(Cli* cli);
void AddAgentEvents(Cli* cli);
void AddAgentUsage(Cli* cli);
void AddPolicy(Cli* cli);
void AddDoctor(Cli* cli);
void AddSweep(Cli* cli);
void AddVersion(Cli* cli);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_COMMANDS_H_
