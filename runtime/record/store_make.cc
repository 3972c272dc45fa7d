// Store::Reserve: a session comes into sight whole, or not at all.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/record/files.h"
#include "runtime/record/host_id.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
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

// A pass of Tidy spoils one try at most; where one pass follows another, ten tries were too few.
constexpr int kMaxTries = 100;

}  // namespace

bool Store::IsStale(const std::string& uid) const {
  if (!IsUid(uid)) return true;
  const absl::StatusOr<UniqueFd> session = OpenSessionDir(uid);
  if (!session.ok()) return absl::IsNotFound(session.status());
  absl::StatusOr<Record> record = ReadFile(session->get(), uid);
  if (record.ok()) Resolve(*record);
  return record.ok() && record->state == kStateStarting &&
         OwnerLiveness(dir_, *record) == Liveness::kDead;
}

// Aborted: Tidy took the new folder for a dead process's. Cannot happen once the lock is held.
absl::Status Store::MakeSession(const Record& record, Sync sync) const {
  const std::string making = kMaking + record.uid;
  if (mkdirat(dir_.sessions_fd(), making.c_str(), 0700) != 0) {
    return ErrnoStatus(errno, absl::StrCat("make a folder for session ", ShowText(record.name),
                                           " in '", dir_.path(), "/sessions'"));
  }
  const absl::StatusOr<UniqueFd> session = OpenFolder(dir_.sessions_fd(), making);
  if (absl::IsNotFound(session.status())) return absl::AbortedError(session.status().message());
  absl::Status status = session.status();
  if (status.ok()) {
    const absl::StatusOr<FolderLock> lock = FolderLock::TryTake(session->get(), kLockFile);
    if (absl::IsNotFound(lock.status()) || absl::IsAborted(lock.status())) {
      return absl::AbortedError(lock.status().message());
    }
    status = lock.status();
    if (status.ok()) {
      status =
          WriteFile(session->get(), record, sync == Sync::kNow ? Synced::kFile : Synced::kNothing);
    }
    if (status.ok() && renameat2(dir_.sessions_fd(), making.c_str(), dir_.sessions_fd(),
                                 record.uid.c_str(), 0) != 0) {
      status = ErrnoStatus(errno, absl::StrCat("make session ", ShowText(record.name)));
    }
    if (status.ok()) return status;
    EmptyFolder(session->get()).IgnoreError();
  }
  unlinkat(dir_.sessions_fd(), making.c_str(), AT_REMOVEDIR);
  return status;
}

absl::Status Store::SyncSession(const Record& record) const {
  ABSL_ASSIGN_OR_RETURN(UniqueFd session, OpenSessionDir(record.uid));
  ABSL_RETURN_IF_ERROR(SyncFolder(session.get(), absl::StrCat("sync session ", record.uid)));
  return SyncPlace();
}

absl::Status Store::SyncPlace() const {
  ABSL_RETURN_IF_ERROR(SyncFolder(dir_.sessions_fd(), "sync the folder of sessions"));
  return NameLinks(dir_.names_fd()).Sync();
}

absl::StatusOr<Record> Store::Reserve(Record initial, Sync sync) const {
  ABSL_RETURN_IF_ERROR(CheckSessionName(initial.name));
  Record record = std::move(initial);
  record.schema = kRecordSchema;
  record.state = kStateStarting;
  record.renaming_to.clear();
  record.install_id = dir_.install_id();
  record.created_at_unix_ns = absl::GetCurrentTimeNanos();
  ABSL_ASSIGN_OR_RETURN(record.boot_id, BootId());
  record.host_id = HostId();
  ABSL_ASSIGN_OR_RETURN(record.token, RandomHexId());
  if (record.owner.pid == 0) {
    ABSL_ASSIGN_OR_RETURN(record.owner, IdentifySelf());
  }

  const NameLinks names(dir_.names_fd());
  const auto is_stale = [this](const std::string& uid) { return IsStale(uid); };
  // Before anything is written: most often a name that cannot be had is simply taken.
  if (const absl::StatusOr<std::string> holder = names.Read(record.name);
      holder.ok() && !IsStale(*holder)) {
    return absl::AlreadyExistsError(absl::StrCat("session name ", ShowText(record.name),
                                                 ": session ", ShowText(*holder), " has it"));
  }

  absl::Status made;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    ABSL_ASSIGN_OR_RETURN(record.uid, RandomUid());
    made = MakeSession(record, sync);
    if (!absl::IsAborted(made)) break;
  }
  ABSL_RETURN_IF_ERROR(made);
  absl::Status status = names.Take(record.name, record.uid, is_stale);
  if (status.ok() && sync == Sync::kNow) status = SyncSession(record);
  if (!status.ok()) {
    Remove(record.uid).IgnoreError();
    return status;
  }
  return record;
}

}  // namespace berth
