#include "reaper/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/record/files.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

constexpr char kFile[] = "reaper.lock";

// A pidfd of whoever says in the file to have the lock; not ok() if that cannot be told.
UniqueFd HolderPidfd(const StateDir& dir, std::string* shown) {
  const absl::StatusOr<std::string> text = ReadSmallFile(dir.root_fd(), kFile, 4096);
  if (!text.ok()) return UniqueFd();
  const absl::StatusOr<Identity> holder = IdentityFromJson(*text);
  if (!holder.ok()) return UniqueFd();
  *shown = absl::StrCat("process ", holder->pid);
  absl::StatusOr<UniqueFd> pidfd = OpenProcess(*holder);
  return pidfd.ok() ? *std::move(pidfd) : UniqueFd();
}

void Drain(int inotify) {
  char events[4096];
  while (read(inotify, events, sizeof events) > 0) {
  }
}

}  // namespace

absl::StatusOr<Lock> Lock::Take(const StateDir& dir, absl::Time deadline) {
  UniqueFd file(openat(dir.root_fd(), kFile,
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!file.ok()) return ErrnoStatus(errno, "open the reaper's lock");
  struct stat entry;
  if (fstat(file.get(), &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", dir.path(), "/", kFile, "' is not a file of this user: remove it"));
  }
  // Whoever lets go unlocks before it closes, so a close that is seen comes after. Whoever is
  // killed is closed for by the kernel before it unlocks: then it is the process that is waited
  // for.
  const UniqueFd closed(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!closed.ok() ||
      inotify_add_watch(closed.get(), absl::StrCat("/proc/self/fd/", file.get()).c_str(),
                        IN_CLOSE_WRITE) < 0) {
    return ErrnoStatus(errno, "watch the reaper's lock");
  }
  std::string holder = "another process";
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock the reaper's lock");
    const UniqueFd pidfd = HolderPidfd(dir, &holder);
    Drain(closed.get());
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) break;
    const absl::Status waited =
        WaitFdOrCancel(closed.get(), POLLIN, pidfd.get(), deadline, "wait for another reaper");
    if (absl::IsDeadlineExceeded(waited)) {
      return absl::AbortedError(
          absl::StrCat("another reaper is at work in '", dir.path(), "': ", holder));
    }
    if (!waited.ok() && !absl::IsCancelled(waited)) return waited;
  }
  Lock lock(std::move(file));
  ABSL_ASSIGN_OR_RETURN(const Identity self, IdentifySelf());
  const std::string text = IdentityToJson(self);
  if (ftruncate(lock.file_.get(), 0) != 0 ||
      pwrite(lock.file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, "write the reaper's lock");
  }
  return lock;
}

Lock::~Lock() {
  if (file_.ok()) flock(file_.get(), LOCK_UN);
}

}  // namespace berth::reaper
