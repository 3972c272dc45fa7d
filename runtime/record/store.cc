// Reading, listing and changing records. Making and removing sessions is in store_make.cc and
// store_remove.cc.
#include "runtime/record/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/record/files.h"
#include "runtime/record/name_links.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/record/record_cache.h"
#include "runtime/record/session_name.h"
#include "runtime/record/state_dir.h"
#include "runtime/record/store_layout.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

absl::StatusOr<std::unique_ptr<Store>> Store::Open(std::string state_dir_path) {
  ABSL_ASSIGN_OR_RETURN(StateDir dir, StateDir::Open(std::move(state_dir_path)));
  return absl::WrapUnique(new Store(std::move(dir)));
}

absl::StatusOr<UniqueFd> Store::OpenSessionDir(const std::string& uid) const {
  if (!IsUid(uid)) {
    return absl::InvalidArgumentError(
        absl::StrCat("session ", ShowText(uid), ": not a session's uid"));
  }
  absl::StatusOr<UniqueFd> fd = OpenFolder(dir_.sessions_fd(), uid);
  if (absl::IsNotFound(fd.status())) return absl::NotFoundError(absl::StrCat("no session ", uid));
  return fd;
}

absl::StatusOr<Record> Store::ReadFile(int session_fd, const std::string& uid) const {
  absl::StatusOr<std::string> text = ReadSmallFile(session_fd, kRecordFile, kMaxRecordBytes);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        absl::StrCat("session ", uid, ": ", text.status().message()));
  }
  return ParseFile(*text, uid);
}

absl::StatusOr<Record> Store::ParseFile(const std::string& text, const std::string& uid) const {
  absl::StatusOr<Record> record = FromJson(text);
  if (!record.ok()) {
    // Not the caller's argument is invalid.
    const absl::StatusCode code = absl::IsInvalidArgument(record.status())
                                      ? absl::StatusCode::kDataLoss
                                      : record.status().code();
    return absl::Status(code, absl::StrCat("session ", uid, ": ", record.status().message()));
  }
  if (record->uid != uid) {
    return absl::DataLossError(absl::StrCat("session ", uid, ": its record is of ", record->uid));
  }
  return record;
}

absl::Status Store::WriteFile(int session_fd, const Record& record, Synced synced) const {
  ABSL_RETURN_IF_ERROR(CheckRecord(record));
  const std::string text = ToJson(record);
  if (text.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(absl::StrCat("record of session ", ShowText(record.name),
                                                   ": ", text.size(), " bytes are more than ",
                                                   kMaxRecordBytes));
  }
  return WriteFileDurably(session_fd, kRecordFile, kRecordTemporary, text, synced);
}

// The link is the truth: a rename has happened once it has been moved.
void Store::Resolve(Record& record) const {
  // Only what may have a container has cause to be given up without being removed.
  if (record.state == kStateRunning && !record.container_id.empty() &&
      faccessat(dir_.sessions_fd(), absl::StrCat(record.uid, "/", kGivenUpFile).c_str(), F_OK,
                AT_SYMLINK_NOFOLLOW) == 0) {
    record.state = kStateStarting;
  }
  if (record.renaming_to.empty()) return;
  const absl::StatusOr<std::string> uid = NameLinks(dir_.names_fd()).Read(record.renaming_to);
  if (uid.ok() && *uid == record.uid) record.name = record.renaming_to;
  record.renaming_to.clear();
}

absl::StatusOr<Record> Store::Read(const std::string& uid) const {
  ABSL_ASSIGN_OR_RETURN(UniqueFd session, OpenSessionDir(uid));
  ABSL_ASSIGN_OR_RETURN(Record record, ReadFile(session.get(), uid));
  Resolve(record);
  return record;
}

absl::StatusOr<Record> Store::Find(const std::string& name) const {
  ABSL_RETURN_IF_ERROR(CheckSessionName(name));
  ABSL_ASSIGN_OR_RETURN(std::string uid, NameLinks(dir_.names_fd()).Read(name));
  if (!IsUid(uid))
    return absl::NotFoundError(absl::StrCat("no session is called ", ShowText(name)));
  ABSL_ASSIGN_OR_RETURN(UniqueFd session, OpenSessionDir(uid));
  ABSL_ASSIGN_OR_RETURN(Record record, ReadFile(session.get(), uid));
  record.name = name;
  record.renaming_to.clear();
  return record;
}

absl::StatusOr<Listing> Store::List() const { return List(nullptr); }

absl::StatusOr<Listing> Store::List(RecordCache* cache) const {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> entries, ListFolder(dir_.sessions_fd()));
  Listing listing;
  listing.records.reserve(entries.size());
  if (cache != nullptr) cache->Begin();
  for (std::string& entry : entries) {
    if (entry.starts_with('.')) continue;  // unfinished: see Tidy
    // In one step; what is wrong, if anything, is found out in two.
    if (IsUid(entry)) {
      const std::string path = absl::StrCat(entry, "/", kRecordFile);
      if (cache != nullptr) {
        const std::optional<FileVersion> version = VersionOf(dir_.sessions_fd(), path);
        std::optional<Record> known =
            version.has_value() ? cache->Find(entry, *version) : std::nullopt;
        if (known.has_value()) {
          Resolve(*known);
          listing.records.push_back(*std::move(known));
          continue;
        }
      }
      FileVersion version;
      const absl::StatusOr<std::string> text =
          ReadSmallFile(dir_.sessions_fd(), path, kMaxRecordBytes, &version);
      if (text.ok()) {
        if (absl::StatusOr<Record> record = ParseFile(*text, entry); record.ok()) {
          if (cache != nullptr) cache->Put(*record, version);
          Resolve(*record);
          listing.records.push_back(*std::move(record));
          continue;
        }
      }
    }
    const absl::StatusOr<UniqueFd> session = OpenSessionDir(entry);
    if (absl::IsNotFound(session.status())) continue;  // removed since
    absl::Status why = session.status();
    if (session.ok()) {
      absl::StatusOr<Record> record = ReadFile(session->get(), entry);
      if (record.ok()) {  // no openat2 here
        Resolve(*record);
        listing.records.push_back(*std::move(record));
        continue;
      }
      // A session that is being removed loses its place before its record.
      if (absl::IsNotFound(record.status()) && absl::IsNotFound(OpenSessionDir(entry).status()))
        continue;
      why = record.status();
    }
    listing.broken.push_back({std::move(entry), std::move(why)});
  }
  if (cache != nullptr) cache->DropUnused();
  return listing;
}

absl::Status Store::Write(const Record& record) const {
  ABSL_RETURN_IF_ERROR(CheckRecord(record));
  ABSL_ASSIGN_OR_RETURN(UniqueFd session, OpenSessionDir(record.uid));
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(session.get()));
  ABSL_ASSIGN_OR_RETURN(const Record current, ReadFile(session.get(), record.uid));
  Record next = record;
  next.name = current.name;
  next.renaming_to = current.renaming_to;
  return WriteFile(session.get(), next, Synced::kFileAndFolder);
}

absl::Status Store::Rename(const std::string& uid, const std::string& new_name) const {
  ABSL_RETURN_IF_ERROR(CheckSessionName(new_name));
  ABSL_ASSIGN_OR_RETURN(UniqueFd session, OpenSessionDir(uid));
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(session.get()));
  ABSL_ASSIGN_OR_RETURN(Record record, ReadFile(session.get(), uid));
  const NameLinks names(dir_.names_fd());
  Resolve(record);
  if (record.name == new_name) {
    const absl::StatusOr<std::string> holder = names.Read(new_name);
    if (holder.ok() && *holder == uid)
      return WriteFile(session.get(), record, Synced::kFileAndFolder);
  }
  // The intent first: whoever removes this session after a crash frees both names.
  Record intent = record;
  intent.renaming_to = new_name;
  ABSL_RETURN_IF_ERROR(WriteFile(session.get(), intent, Synced::kFileAndFolder));
  absl::Status moved = names.Move(record.name, new_name, uid,
                                  [this](const std::string& holder) { return IsStale(holder); });
  if (!moved.ok()) {
    WriteFile(session.get(), record, Synced::kFileAndFolder)
        .IgnoreError();  // the intent does no harm
    return moved;
  }
  ABSL_RETURN_IF_ERROR(names.Sync());
  record.name = new_name;
  return WriteFile(session.get(), record, Synced::kFileAndFolder);
}

}  // namespace berth
