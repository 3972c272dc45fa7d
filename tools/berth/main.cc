// berth: the command. See cli.h for the command line and commands.h for the commands.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

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
  // A reader that went away is an error to be handled; commands get the default back.
  signal(SIGPIPE, SIG_IGN);
  return berth::cli::RunBerth(argc, argv);
}
