#include "reaper/users.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

constexpr size_t kMaxAnswer = 64 << 20;

// Whom this becomes may trace it and act through its descriptors: root's terminal must be neither
// among them nor the one that controls it (CVE-2016-2779).
void LeaveTerminal() {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) {
    if (null < 0 || dup2(null, fd) < 0) close(fd);
  }
}

// In the child, for good.
bool Become(const User& user) {
  LeaveTerminal();
  if (setgroups(user.gid == 0 ? 0 : 1, &user.gid) != 0 ||
      setresgid(user.gid, user.gid, user.gid) != 0 ||
      setresuid(user.uid, user.uid, user.uid) != 0) {
    return false;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // forgotten at the change of user
  prctl(PR_SET_DUMPABLE, 1);         // as well; without it /proc/self is root's
  for (const char* name : {"BERTH_STATE_DIR", "BERTH_TOKEN", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) {
    unsetenv(name);
  }
  setenv("HOME", user.home.c_str(), 1);
  const std::string run = absl::StrCat("/run/user/", user.uid);
  if (access(run.c_str(), W_OK) == 0) setenv("XDG_RUNTIME_DIR", run.c_str(), 1);
  return chdir("/") == 0;
}

}  // namespace

std::vector<User> UsersWithState(const std::string& passwd) {
  std::vector<User> users;
  std::ifstream file(passwd);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, ':');
    User user;
    if (fields.size() < 7 || !absl::SimpleAtoi(fields[2], &user.uid) ||
        !absl::SimpleAtoi(fields[3], &user.gid) || fields[5].empty() || fields[5][0] != '/') {
      continue;
    }
    user.name = fields[0];
    user.home = fields[5];
    struct stat entry;
    // Only to spare a process for everybody else: what counts is looked at as that user.
    if (lstat((user.home + "/.local/state/berth").c_str(), &entry) != 0) continue;
    users.push_back(std::move(user));
  }
  return users;
}

absl::StatusOr<User> OwnerOfDir(const std::string& path) {
  struct stat entry;
  if (lstat(path.c_str(), &entry) != 0)
    return ErrnoStatus(errno, absl::StrCat("state directory '", path, "'"));
  if (!S_ISDIR(entry.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("state directory '", path, "' is not a folder"));
  }
  return User{absl::StrCat("uid ", entry.st_uid), entry.st_uid, entry.st_gid, "/nonexistent"};
}

absl::StatusOr<std::string> RunAs(const User& user, const std::function<std::string()>& body,
                                  absl::Time deadline) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd reads(ends[0]), writes(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !Become(user)) _exit(1);
    const std::string answer = body();
    for (absl::string_view rest = answer; !rest.empty();) {
      const ssize_t put = write(writes.get(), rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) _exit(1);
      rest.remove_prefix(static_cast<size_t>(put));
    }
    _exit(0);
  }
  writes.reset();
  std::string answer;
  absl::Status status;
  while (status.ok() && answer.size() < kMaxAnswer) {
    status = WaitFd(reads.get(), POLLIN, deadline, "wait for a sweep as another user");
    char buffer[65536];
    const ssize_t got = status.ok() ? read(reads.get(), buffer, sizeof buffer) : 0;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  if (!status.ok())
    kill(pid, SIGKILL);  // our own child, not waited for yet: the number is still its
  int code = 0;
  while (waitpid(pid, &code, 0) < 0 && errno == EINTR) {
  }
  if (!status.ok()) return status;
  if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) {
    return absl::InternalError(absl::StrCat("the sweep as ", user.name, " did not finish"));
  }
  return answer;
}

}  // namespace berth::reaper
