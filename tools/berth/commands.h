// The commands, each in the file of its name. Each adds itself to the command line.
#ifndef BERTH_TOOLS_BERTH_COMMANDS_H_
#define BERTH_TOOLS_BERTH_COMMANDS_H_

namespace berth::cli {

class Cli;

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
void AddChanges(Cli* cli);
void AddStats(Cli* cli);
void AddTop(Cli* cli);
void AddRename(Cli* cli);
void AddPorts(Cli* cli);
void AddAgentRun(Cli* cli);
void AddAgentEvents(Cli* cli);
void AddAgentUsage(Cli* cli);
void AddPolicy(Cli* cli);
void AddDoctor(Cli* cli);
void AddSweep(Cli* cli);
void AddCompletion(Cli* cli);
void AddMan(Cli* cli);
void AddVersion(Cli* cli);

// berth, from argv to the exit code.
int RunBerth(int argc, char** argv);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_COMMANDS_H_
