#include "reaper/tmux_command.h"

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

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"

extern char** environ;

namespace berth::reaper {
namespace {

constexpr size_t kMaxAnswer = 8 << 20;

// A socket by its folder and name: its whole path may be longer than an address can be.
struct Place {
  std::string folder, name;
  explicit Place(const std::string& path)
      : folder(path.substr(0, path.rfind('/') + 1)), name(path.substr(path.rfind('/') + 1)) {}
};

// All there is to read until its end.
absl::StatusOr<std::string> ReadAll(int fd, absl::Time deadline) {
  std::string text;
  while (text.size() < kMaxAnswer) {
    ABSL_RETURN_IF_ERROR(WaitFd(fd, POLLIN, deadline, "wait for tmux"));
    char buffer[4096];
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
  return absl::ResourceExhaustedError("tmux does not stop talking");
}

}  // namespace

UniqueFd ConnectTo(const std::string& path, int type) {
  const Place place(path);
  const UniqueFd folder(open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat entry;
  if (!folder.ok() || fstatat(folder.get(), place.name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
    return UniqueFd();
  }
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string by_folder = absl::StrCat("/proc/self/fd/", folder.get(), "/", place.name);
  if (!S_ISSOCK(entry.st_mode) || by_folder.size() >= sizeof(address.sun_path)) {
    errno = ENOTSOCK;
    return UniqueFd();
  }
  memcpy(address.sun_path, by_folder.c_str(), by_folder.size());
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.ok() &&
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return UniqueFd();
  }
  return fd;
}

UniqueFd ServerPidfd(const std::string& socket) {
  // Only asked who it is: a server does not end while somebody is connected.
  const UniqueFd connection = ConnectTo(socket);
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (!connection.ok() ||
      getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return UniqueFd();
  }
  if (peer.pid <= 0) errno = EXDEV;  // of a pid namespace that is not seen from here
  return UniqueFd(peer.pid > 0 ? launcher::PidfdOpen(peer.pid) : -1);
}

bool ServerIsGone(const std::string& socket) {
  const UniqueFd server = ServerPidfd(socket);
  if (!server.ok()) {
    return errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED || errno == ESRCH;
  }
  // What it was about to run has its socket, too, until it is another program.
  pollfd ended = {server.get(), POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

absl::StatusOr<Answer> Tmux(const std::string& socket, std::vector<std::string> words,
                            absl::Time deadline) {
  Place place(socket);
  words.insert(words.begin(), {"tmux", "-N", "-S", place.name});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  const UniqueFd reads(ends[0]);
  UniqueFd writes(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, place.folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writes.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, "tmux", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, "run tmux");
  writes.reset();
  absl::StatusOr<std::string> text = ReadAll(reads.get(), deadline);
  const UniqueFd pidfd(launcher::PidfdOpen(pid));
  absl::Status ended = text.status();
  if (ended.ok() && pidfd.ok()) ended = WaitFd(pidfd.get(), POLLIN, deadline, "wait for tmux");
  // Our own child, not waited for yet: the number is still its.
  if (!ended.ok()) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ABSL_RETURN_IF_ERROR(ended);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    return absl::UnavailableError("tmux could not be run");
  }
  return Answer{WEXITSTATUS(status), *std::move(text)};
}

}  // namespace berth::reaper
