// Asking a tmux server by the tmux command, which never starts one by what it is asked here.
#ifndef BERTH_REAPER_TMUX_COMMAND_H_
#define BERTH_REAPER_TMUX_COMMAND_H_

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {

// A connection to whoever listens at that socket; not ok(), and errno, if nobody does.
UniqueFd ConnectTo(const std::string& socket, int type = SOCK_STREAM);

// The process of the server that listens at `socket`. Not ok() if there is none, or it cannot be
// told which process it is.
UniqueFd ServerPidfd(const std::string& socket);

// Whether there is nobody who could have windows. False where that cannot be told.
bool ServerIsGone(const std::string& socket);

// tmux's exit code and what it said.
struct Answer {
  int code = 0;
  std::string text;
};

// Of the server at `socket`. Unavailable if there is no tmux; DeadlineExceeded.
absl::StatusOr<Answer> Tmux(const std::string& socket, std::vector<std::string> words,
                            absl::Time deadline);

}  // namespace berth::reaper

#endif  // BERTH_REAPER_TMUX_COMMAND_H_
