#include "runtime/record/name_links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/record/files.h"
#include "runtime/record/session_name.h"
#include "sandbox/base/errno_status.h"

namespace berth {
namespace {

constexpr char kTemporary[] = ".take";  // used under the lock only

absl::Status Taken(const std::string& name, const std::string& uid) {
  return absl::AlreadyExistsError(
      absl::StrCat("session name ", ShowText(name), ": session ", ShowText(uid), " has it"));
}

absl::Status Failed(int error, const char* step, const std::string& name) {
  return ErrnoStatus(error, absl::StrCat(step, " session name ", ShowText(name)));
}

}  // namespace

absl::StatusOr<std::string> NameLinks::Read(const std::string& name) const {
  char text[256];
  const ssize_t length = readlinkat(names_fd_, name.c_str(), text, sizeof text);
  if (length >= 0) return std::string(text, static_cast<size_t>(length));
  if (errno == EINVAL) {
    return absl::FailedPreconditionError(
        absl::StrCat("session name ", ShowText(name), ": its entry is not a symlink: remove it"));
  }
  if (errno == ENOENT)
    return absl::NotFoundError(absl::StrCat("no session is called ", ShowText(name)));
  return Failed(errno, "read", name);
}

absl::Status NameLinks::Take(const std::string& name, const std::string& uid,
                             IsStale is_stale) const {
  if (symlinkat(uid.c_str(), names_fd_, name.c_str()) == 0) return absl::OkStatus();
  if (errno != EEXIST) return Failed(errno, "take", name);
  // Without the lock first: most often the name is simply taken.
  const absl::StatusOr<std::string> holder = Read(name);
  if (holder.ok() && !is_stale(*holder)) return Taken(name, *holder);
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(names_fd_));
  return TakeLocked(name, uid, is_stale);
}

absl::Status NameLinks::TakeLocked(const std::string& name, const std::string& uid,
                                   IsStale is_stale) const {
  // Once more under the lock: another may have taken the name over, or freed it.
  const absl::StatusOr<std::string> holder = Read(name);
  if (absl::IsNotFound(holder.status())) {
    if (symlinkat(uid.c_str(), names_fd_, name.c_str()) == 0) return absl::OkStatus();
    if (errno != EEXIST) return Failed(errno, "take", name);
    const absl::StatusOr<std::string> winner = Read(name);
    return Taken(name, winner.ok() ? *winner : "another");
  }
  ABSL_RETURN_IF_ERROR(holder.status());
  if (!is_stale(*holder)) return Taken(name, *holder);
  unlinkat(names_fd_, kTemporary, 0);
  if (symlinkat(uid.c_str(), names_fd_, kTemporary) != 0 ||
      renameat(names_fd_, kTemporary, names_fd_, name.c_str()) != 0) {
    return Failed(errno, "take over", name);
  }
  return absl::OkStatus();
}

absl::Status NameLinks::Move(const std::string& from, const std::string& to, const std::string& uid,
                             IsStale is_stale) const {
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(names_fd_));
  const absl::StatusOr<std::string> held = Read(from);
  if (!held.ok() || *held != uid) return TakeLocked(to, uid, is_stale);
  const absl::StatusOr<std::string> holder = Read(to);
  if (holder.ok()) {
    if (!is_stale(*holder)) return Taken(to, *holder);
    if (unlinkat(names_fd_, to.c_str(), 0) != 0) return Failed(errno, "free", to);
  } else if (!absl::IsNotFound(holder.status())) {
    return holder.status();
  }
  if (renameat2(names_fd_, from.c_str(), names_fd_, to.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  if (errno == EEXIST) return Taken(to, "another");
  if (errno != EINVAL && errno != ENOSYS) return Failed(errno, "rename to", to);
  // NFS and some FUSE file systems have no RENAME_NOREPLACE.
  ABSL_RETURN_IF_ERROR(TakeLocked(to, uid, is_stale));
  if (unlinkat(names_fd_, from.c_str(), 0) != 0) return Failed(errno, "free", from);
  return absl::OkStatus();
}

absl::Status NameLinks::Drop(const std::string& name, const std::string& uid) const {
  // Only its own session takes a name for a uid, so one that is not its now will not be. Without
  // the lock: a folder that cannot be written to must not keep a session from being removed that
  // never got its name for that reason.
  if (const absl::StatusOr<std::string> now = Read(name);
      now.ok() ? *now != uid : absl::IsNotFound(now.status())) {
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(names_fd_));
  const absl::StatusOr<std::string> holder = Read(name);
  if (!holder.ok() || *holder != uid) return absl::OkStatus();
  if (unlinkat(names_fd_, name.c_str(), 0) != 0 && errno != ENOENT)
    return Failed(errno, "free", name);
  return absl::OkStatus();
}

absl::Status NameLinks::DropIf(IsStale drop) const {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFolder(names_fd_));
  for (const std::string& name : names) {
    if (!CheckSessionName(name).ok()) continue;
    absl::StatusOr<std::string> holder = Read(name);
    if (!holder.ok() || !drop(*holder)) continue;
    ABSL_RETURN_IF_ERROR(Drop(name, *holder));
  }
  return absl::OkStatus();
}

absl::Status NameLinks::Sync() const { return SyncFolder(names_fd_, "sync the names of sessions"); }

}  // namespace berth
