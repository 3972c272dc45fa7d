#include "reaper/tmux_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"

extern char** environ;

namespace berth::reaper {
namespace {

constexpr absl::Duration kAnswer = absl::Seconds(10);

// Whether there is nobody who could have windows. False where that cannot be told.
bool ServerIsGone(const std::string& path) {
  struct stat entry;
  if (lstat(path.c_str(), &entry) != 0) return errno == ENOENT || errno == ENOTDIR;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!S_ISSOCK(entry.st_mode) || path.size() >= sizeof(address.sun_path)) return false;
  memcpy(address.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd.ok() &&
         connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

// The exit code of tmux, which never starts a server by these commands. "=": that name exactly.
absl::StatusOr<int> Tmux(const Record& record, const char* command, absl::Time deadline,
                         bool of_session = true) {
  std::vector<std::string> words{"tmux", "-S", record.tmux_socket, command};
  if (of_session) {
    words.insert(words.end(), {"-t", absl::StrCat("=", record.tmux_session)});
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, "tmux", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, "run tmux");
  const UniqueFd pidfd(launcher::PidfdOpen(pid));
  const absl::Status ended =
      pidfd.ok() ? WaitFd(pidfd.get(), POLLIN, deadline, "wait for tmux") : absl::OkStatus();
  // Our own child, not waited for yet: the number is still its.
  if (!ended.ok()) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ABSL_RETURN_IF_ERROR(ended);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    return absl::UnavailableError("tmux could not be run");
  }
  return WEXITSTATUS(status);
}

bool IsOfSession(const Record& record) {
  return record.tmux_session == absl::StrCat("berth-", record.uid) && !record.tmux_socket.empty();
}

}  // namespace

Presence TmuxEngine::Look(const Record& record) {
  if (!IsOfSession(record)) return Presence::kUnknown;
  if (ServerIsGone(record.tmux_socket)) return Presence::kDead;
  const absl::StatusOr<int> code = Tmux(record, "has-session", absl::Now() + kAnswer);
  if (!code.ok()) return Presence::kUnknown;
  if (*code == 0) return Presence::kAlive;
  // It says the same of a session that is not there and of a server that it cannot talk to.
  const absl::StatusOr<int> answers =
      Tmux(record, "list-sessions", absl::Now() + kAnswer, /*of_session=*/false);
  return ServerIsGone(record.tmux_socket) || (answers.ok() && *answers == 0) ? Presence::kDead
                                                                             : Presence::kUnknown;
}

absl::Status TmuxEngine::End(const Record& record, const EndOptions& options) {
  if (!IsOfSession(record)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tmux session '", record.tmux_session, "' does not carry the session's id: left alone"));
  }
  if (ServerIsGone(record.tmux_socket)) return absl::OkStatus();
  const absl::Time deadline = std::min(options.deadline, absl::Now() + kAnswer);
  ABSL_RETURN_IF_ERROR(Tmux(record, "kill-session", deadline).status());
  if (ServerIsGone(record.tmux_socket)) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const int there, Tmux(record, "has-session", deadline));
  if (there != 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("tmux session '", record.tmux_session, "' is still there"));
}

}  // namespace berth::reaper
