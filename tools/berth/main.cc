// berth: the command. Only puts the parts together; see cli.h for the command line and commands.h
// for the commands.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tools/berth/cli.h"
#include "tools/berth/commands.h"

namespace {

// A standard stream that the caller closed must stay useless: the next file that is opened would
// take its number and get our output. So the number is taken, by something that can be neither read
// as input nor written as output.
void HoldClosedStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(125);
  }
}

}  // namespace

int main(int argc, char** argv) {
  HoldClosedStreams();
  signal(
      SIGPIPE,
      SIG_IGN);  // a reader that went away is an error to be handled; commands get the default back
  berth::cli::Cli cli;
  // In the order in which `berth --help` lists them.
  for (const auto add :
       {berth::cli::AddRun,      berth::cli::AddStart,       berth::cli::AddLs,
        berth::cli::AddAttach,   berth::cli::AddSend,        berth::cli::AddKeys,
        berth::cli::AddCapture,  berth::cli::AddLogs,        berth::cli::AddExec,
        berth::cli::AddWait,     berth::cli::AddKill,        berth::cli::AddRm,
        berth::cli::AddStats,    berth::cli::AddRename,      berth::cli::AddPorts,
        berth::cli::AddAgentRun, berth::cli::AddAgentEvents, berth::cli::AddAgentUsage,
        berth::cli::AddPolicy,   berth::cli::AddDoctor,      berth::cli::AddSweep,
        berth::cli::AddVersion}) {
    add(&cli);
  }
  return cli.Main(argc, argv);
}
