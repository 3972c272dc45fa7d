#include "runtime/docker/relay/ssh_tunnel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/docker/relay/ssh_errors.h"
#include "sandbox/launcher/kernel.h"

namespace berth::relay {
namespace {

// In the process beside ssh, forked from a relay.
[[noreturn]] void RunTunnel(int socket, int errors, std::string lines) {
  if (dup2(errors, 2) < 0 || dup2(socket, 0) < 0 || dup2(socket, 1) < 0) _exit(1);
  // The relay's other connections end when it closes them, whoever was forked meanwhile.
  launcher::CloseRange(3, ~0u, 0);
  clearenv();
  std::vector<char*> argv;
  bool env = true;
  for (char *next = lines.data(), *line; (line = strsep(&next, "\n")) != nullptr;) {
    if (!env) {
      argv.push_back(line);
    } else if (*line == '\0') {
      env = false;
    } else {
      putenv(line);
    }
  }
  argv.push_back(nullptr);
  RunSsh(argv.data());
  _exit(0);
}

}  // namespace

void RunSsh(char** argv) {
  prctl(PR_SET_NAME, "berth-ssh");
  signal(SIGCHLD, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const pid_t self = getpid();
  const pid_t ssh = argv[0] != nullptr ? fork() : -1;
  if (ssh < 0) {
    dprintf(2, "start ssh: %s\n", strerror(errno));
    return;
  }
  if (ssh == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(127);
    setsid();  // no terminal to ask on, and a group of its own
    execvp(argv[0], argv);
    dprintf(2, "execute '%s': %s\n", argv[0], strerror(errno));
    _exit(127);
  }
  // It is reaped below and nowhere else: its number is its own until then.
  const UniqueFd pidfd(launcher::PidfdOpen(ssh));
  // No event is asked for of the socket: a hangup comes unasked, and once the other end is closed.
  pollfd fds[] = {{0, 0, 0}, {pidfd.get(), POLLIN, 0}};
  while (pidfd.ok() && poll(fds, 2, -1) < 0 && errno == EINTR) {
  }
  const bool ended = fds[1].revents != 0;
  kill(-ssh, SIGKILL);  // with what it started itself (ProxyCommand)
  kill(ssh, SIGKILL);
  int status = 0;
  while (waitpid(ssh, &status, 0) < 0 && errno == EINTR) {
  }
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) != 0)
    dprintf(2, "(ssh ended with %d)\n", WEXITSTATUS(status));
  if (ended && WIFSIGNALED(status)) dprintf(2, "(ssh was ended by signal %d)\n", WTERMSIG(status));
}

UniqueFd OpenSshTunnel(const std::string& lines, UniqueFd* errors, std::string* error) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return *error = strerror(errno), UniqueFd();
  UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  *errors = MakeSshErrors();
  if (!errors->ok()) return *error = strerror(errno), UniqueFd();
  signal(SIGCHLD, SIG_IGN);  // tunnels end by themselves, and are not waited for
  const pid_t child = fork();
  if (child < 0) return *error = strerror(errno), UniqueFd();
  if (child == 0) RunTunnel(theirs.get(), errors->get(), lines);
  return ours;
}

}  // namespace berth::relay
