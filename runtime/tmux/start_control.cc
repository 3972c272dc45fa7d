#include "runtime/tmux/start_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/pane_protocol.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth::tmux {

absl::StatusOr<ControlProcess> StartControl(launcher::LauncherClient& launcher,
                                            const std::string& cwd,
                                            const std::vector<std::string>& argv,
                                            const std::vector<std::string>& env) {
  int pair[2], pipe[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return ErrnoStatus(errno, "make a socket for tmux");
  ControlProcess process;
  process.socket = UniqueFd(pair[0]);
  const UniqueFd theirs(pair[1]);
  if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) return ErrnoStatus(errno, "make a pipe for tmux");
  process.errors = UniqueFd(pipe[0]);
  const UniqueFd errors(pipe[1]);
  // The launcher starts keepers outside of what it ends with us; this one becomes tmux.
  ABSL_ASSIGN_OR_RETURN(UniqueFd control, launcher.StartKeeper("tmux"));
  launcher::Writer out;
  out.Put(cwd).PutList(argv).PutList(env);
  const int fds[3] = {theirs.get(), theirs.get(), errors.get()};
  if (const int error =
          launcher::SendMessage(control.get(), launcher::kBecome, out.body(), fds, 3)) {
    return ErrnoStatus(error, "ask for tmux to be started");
  }
  ABSL_RETURN_IF_ERROR(WaitFd(control.get(), POLLIN, absl::Now() + absl::Seconds(60),
                              "wait for tmux to be started"));
  launcher::Message answer;
  if (const int error = launcher::ReceiveMessage(control.get(), &answer))
    return ErrnoStatus(error, "start tmux");
  if (answer.type == launcher::kOk) {
    process.life = std::move(control);
    return process;
  }
  launcher::Reader in = answer.reader();
  const int error = in.Get<int32_t>();
  const auto step = in.Get<launcher::Step>();
  return launcher::StartError(step, error, argv[0], cwd);
}

}  // namespace berth::tmux
