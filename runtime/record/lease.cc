#include "runtime/record/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/record/session_name.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr int kOpenFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr int kMaxTries = 100;

struct flock WholeFile(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string Shown(const std::string& owner_id) {
  return absl::StrCat("lease ", ShowText(owner_id));
}

// Whether the name still leads to the open file. One that was removed guards nothing, whoever locks
// it.
bool IsStillThere(int owners_fd, const std::string& owner_id, int fd) {
  struct stat by_name, by_fd;
  return fstat(fd, &by_fd) == 0 &&
         fstatat(owners_fd, owner_id.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

bool IsOwnFile(int fd) {
  struct stat file;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid();
}

// Opens the file and locks it, without waiting. AlreadyExists if another has the lock.
absl::StatusOr<UniqueFd> OpenLocked(int owners_fd, const std::string& owner_id, int flags) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    UniqueFd fd(openat(owners_fd, owner_id.c_str(), O_RDWR | kOpenFlags | flags, 0600));
    if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open ", Shown(owner_id)));
    if (!IsOwnFile(fd.get())) {
      return absl::FailedPreconditionError(
          absl::StrCat(Shown(owner_id), ": not a file of this user"));
    }
    struct flock lock = WholeFile(F_WRLCK);
    if (fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return ErrnoStatus(errno, absl::StrCat("lock ", Shown(owner_id)));
      }
      return absl::AlreadyExistsError(absl::StrCat(Shown(owner_id), ": another holds it"));
    }
    // Removed between the open and the lock, by the last one who had it.
    if (IsStillThere(owners_fd, owner_id, fd.get())) return fd;
  }
  return absl::AbortedError(absl::StrCat(Shown(owner_id), ": others keep taking and removing it"));
}

void RemoveAndUnlock(int owners_fd, const std::string& owner_id, int fd) {
  if (IsStillThere(owners_fd, owner_id, fd)) unlinkat(owners_fd, owner_id.c_str(), 0);
  struct flock lock = WholeFile(F_UNLCK);
  fcntl(fd, F_OFD_SETLK, &lock);
}

}  // namespace

absl::StatusOr<Lease> Lease::Acquire(const StateDir& dir, std::string owner_id) {
  if (owner_id.empty()) {
    ABSL_ASSIGN_OR_RETURN(owner_id, RandomHexId());
  }
  if (absl::Status name = CheckSessionName(owner_id); !name.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("lease: ", name.message()));
  }
  Lease lease;
  ABSL_ASSIGN_OR_RETURN(lease.owner_, IdentifySelf());
  lease.owner_id_ = std::move(owner_id);
  lease.owners_.reset(fcntl(dir.owners_fd(), F_DUPFD_CLOEXEC, 0));
  if (!lease.owners_.ok()) return ErrnoStatus(errno, "open the folder of leases");
  ABSL_ASSIGN_OR_RETURN(lease.file_, OpenLocked(dir.owners_fd(), lease.owner_id_, O_CREAT));
  // For people and for the reaper's evidence. Not synced: the lock does not outlive the machine
  // either.
  const std::string text = IdentityToJson(lease.owner_);
  if (ftruncate(lease.file_.get(), 0) != 0 ||
      pwrite(lease.file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, absl::StrCat("write ", Shown(lease.owner_id_)));
  }
  return lease;
}

Lease::~Lease() {
  // The lock is of the description, which a forked child shares: it is not the child's to give up.
  if (!file_.ok() || owner_.pid != getpid()) return;
  RemoveAndUnlock(owners_.get(), owner_id_, file_.get());
}

absl::string_view LeaseStateName(LeaseState state) {
  switch (state) {
    case LeaseState::kHeld:
      return "held";
    case LeaseState::kFree:
      return "free";
    case LeaseState::kMissing:
      return "missing";
    case LeaseState::kUnknown:
      break;
  }
  return "unknown";
}

LeaseState ProbeLease(const StateDir& dir, const std::string& owner_id) {
  if (!CheckSessionName(owner_id).ok()) return LeaseState::kUnknown;
  UniqueFd fd(openat(dir.owners_fd(), owner_id.c_str(), O_RDWR | kOpenFlags));
  if (!fd.ok()) return errno == ENOENT ? LeaseState::kMissing : LeaseState::kUnknown;
  if (!IsOwnFile(fd.get())) return LeaseState::kUnknown;
  struct flock lock = WholeFile(F_WRLCK);
  if (fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return LeaseState::kUnknown;
  return lock.l_type == F_UNLCK ? LeaseState::kFree : LeaseState::kHeld;
}

absl::Status RemoveFreeLease(const StateDir& dir, const std::string& owner_id) {
  ABSL_RETURN_IF_ERROR(CheckSessionName(owner_id));
  absl::StatusOr<UniqueFd> fd = OpenLocked(dir.owners_fd(), owner_id, 0);
  if (absl::IsNotFound(fd.status())) return absl::OkStatus();
  if (absl::IsAlreadyExists(fd.status()))
    return absl::FailedPreconditionError(fd.status().message());
  ABSL_RETURN_IF_ERROR(fd.status());
  RemoveAndUnlock(dir.owners_fd(), owner_id, fd->get());
  return absl::OkStatus();
}

Liveness OwnerLiveness(const StateDir& dir, const Record& record) {
  const Liveness identity = CheckIdentity(record.owner);
  const LeaseState lease = ProbeLease(dir, record.owner_id);
  if (identity == Liveness::kAlive && lease == LeaseState::kHeld) return Liveness::kAlive;
  if (identity == Liveness::kDead &&
      (lease == LeaseState::kFree || lease == LeaseState::kMissing)) {
    return Liveness::kDead;
  }
  return Liveness::kUnknown;
}

}  // namespace berth
