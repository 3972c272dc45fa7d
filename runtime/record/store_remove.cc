// Store::Remove, Quarantine and Tidy: a session goes out of sight in one step, and then to pieces.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/record/files.h"
#include "runtime/record/name_links.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/record/session_name.h"
#include "runtime/record/store.h"
#include "runtime/record/store_layout.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr int kMaxQuarantined = 10000;
constexpr size_t kMaxEntryKept = 200;  // of 255, so that a number fits

bool IsSameFolder(int fd, int dir_fd, const std::string& name) {
  struct stat by_fd, by_name;
  return fstat(fd, &by_fd) == 0 &&
         fstatat(dir_fd, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         by_fd.st_ino == by_name.st_ino && by_fd.st_dev == by_name.st_dev;
}

// Of a folder that another may be removing: gone is fine.
absl::Status EmptyIfThere(int folder_fd, const std::vector<std::string>& keep) {
  const absl::Status emptied = EmptyFolder(folder_fd, keep);
  return absl::IsNotFound(emptied) ? absl::OkStatus() : emptied;
}

// Under the folder's lock, which goes with it: whoever waits for that is told NotFound.
absl::Status RemoveLocked(int sessions_fd, int folder_fd, const std::string& name) {
  ABSL_RETURN_IF_ERROR(EmptyIfThere(folder_fd, {kLockFile}));
  ABSL_RETURN_IF_ERROR(EmptyIfThere(folder_fd, {}));
  // ENOTEMPTY: a maker has just come, finds its folder taken for a dead one's, and makes another.
  if (unlinkat(sessions_fd, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT &&
      errno != ENOTEMPTY) {
    return ErrnoStatus(errno, absl::StrCat("remove '", name, "'"));
  }
  return absl::OkStatus();
}

// Removes an unfinished folder if nobody is at work in it.
absl::Status RemoveUnfinished(int sessions_fd, const std::string& name) {
  const absl::StatusOr<UniqueFd> folder = OpenFolder(sessions_fd, name);
  if (absl::IsNotFound(folder.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(folder.status());
  const absl::StatusOr<FolderLock> lock = FolderLock::TryTake(folder->get(), kLockFile);
  if (absl::IsAborted(lock.status()) || absl::IsNotFound(lock.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(lock.status());
  // Its maker may have finished between the two.
  if (!IsSameFolder(folder->get(), sessions_fd, name)) return absl::OkStatus();
  return RemoveLocked(sessions_fd, folder->get(), name);
}

}  // namespace

absl::Status Store::DropNames(int session_fd, const std::string& uid) const {
  const NameLinks names(dir_.names_fd());
  const absl::StatusOr<Record> record = ReadFile(session_fd, uid);
  if (!record.ok()) {
    return names.DropIf([&uid](const std::string& holder) { return holder == uid; });
  }
  ABSL_RETURN_IF_ERROR(names.Drop(record->name, uid));
  if (record->renaming_to.empty()) return absl::OkStatus();
  return names.Drop(record->renaming_to, uid);
}

absl::Status Store::Remove(const std::string& uid) const {
  const std::string removing = kRemoving + uid;
  const absl::StatusOr<UniqueFd> session = OpenSessionDir(uid);
  if (absl::IsNotFound(session.status())) return RemoveUnfinished(dir_.sessions_fd(), removing);
  ABSL_RETURN_IF_ERROR(session.status());
  const absl::StatusOr<FolderLock> lock = FolderLock::Take(session->get(), kLockFile);
  // Another is removing it; a keeper, which takes no lock, may not be done yet.
  if (absl::IsNotFound(lock.status())) return RemoveLocked(dir_.sessions_fd(), session->get(), uid);
  ABSL_RETURN_IF_ERROR(lock.status());
  if (!IsSameFolder(session->get(), dir_.sessions_fd(), uid)) return absl::OkStatus();
  // The record last: until then a crash, or a folder that cannot be removed, leaves a session that
  // is seen and can be removed again.
  ABSL_RETURN_IF_ERROR(EmptyIfThere(session->get(), {kRecordFile, kLockFile}));
  ABSL_RETURN_IF_ERROR(DropNames(session->get(), uid));
  if (renameat(dir_.sessions_fd(), uid.c_str(), dir_.sessions_fd(), removing.c_str()) != 0) {
    // Its keeper, which takes no lock, was removing it too.
    if (errno == ENOENT) return absl::OkStatus();
    return ErrnoStatus(errno, absl::StrCat("remove session ", uid));
  }
  return RemoveLocked(dir_.sessions_fd(), session->get(), removing);
}

absl::Status Store::Quarantine(const std::string& entry) const {
  if (entry.empty() || entry[0] == '.' || entry.find('/') != std::string::npos ||
      entry.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("quarantine ", ShowText(entry), ": not an entry of the folder of sessions"));
  }
  const std::string kept = entry.substr(0, kMaxEntryKept);
  for (int n = 0; n < kMaxQuarantined; ++n) {
    const std::string target = absl::StrCat(kept, ".", n);
    int result = renameat2(dir_.sessions_fd(), entry.c_str(), dir_.quarantine_fd(), target.c_str(),
                           RENAME_NOREPLACE);
    if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
      // No RENAME_NOREPLACE here. Two at once may meet, but a full folder is not replaced by
      // rename.
      struct stat there;
      if (fstatat(dir_.quarantine_fd(), target.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) continue;
      result = renameat(dir_.sessions_fd(), entry.c_str(), dir_.quarantine_fd(), target.c_str());
    }
    if (result == 0) {
      return NameLinks(dir_.names_fd()).DropIf([&entry](const std::string& uid) {
        return uid == entry;
      });
    }
    if (errno != EEXIST && errno != ENOTEMPTY) {
      return ErrnoStatus(errno, absl::StrCat("quarantine session ", ShowText(entry)));
    }
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("quarantine session ", ShowText(entry), ": too many of that name are there"));
}

absl::Status Store::Tidy() const {
  absl::Status first;
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(dir_.sessions_fd()));
  absl::flat_hash_set<absl::string_view> there;
  for (const std::string& entry : entries) {
    there.insert(entry);
    if (!entry.starts_with(kMaking) && !entry.starts_with(kRemoving)) continue;
    first.Update(RemoveUnfinished(dir_.sessions_fd(), entry));
  }
  first.Update(NameLinks(dir_.names_fd()).DropIf([&](const std::string& uid) {
    // One that is not in the list may have been made since.
    return !IsUid(uid) || (!there.contains(uid) && absl::IsNotFound(OpenSessionDir(uid).status()));
  }));
  return first;
}

}  // namespace berth
