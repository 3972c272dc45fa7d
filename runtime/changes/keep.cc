// Layers::Check, Make and Finish: changes become real, one at a time.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/changes/files.h"
#include "runtime/changes/layers.h"
#include "runtime/record/files.h"
#include "runtime/record/random_id.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/remove_tree.h"

namespace berth {

// One name in both layers.
struct Layers::Place {
  HeldFolder upper;
  UniqueFd lower;           // the folders it is in; lower is not ok() while that is not made
  std::string name, aside;  // `aside`: in `lower`, of our own
  bool there = false;       // in the real folder, and how it is there
  struct stat below = {};
};

namespace {

constexpr int kDepth = 128;
constexpr mode_t kModes = 0777;

bool SameThing(const struct stat& a, const struct stat& b) {
  // Not the ctime, which changes with the name.
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

int Rename(int folder, const std::string& from, const std::string& to, unsigned flags) {
  return renameat2(folder, from.c_str(), folder, to.c_str(), flags) == 0 ? 0 : errno;
}

}  // namespace

bool Layers::IsNewer(const struct stat& st) const {
  return std::pair(st.st_ctim.tv_sec, st.st_ctim.tv_nsec) >
         std::pair(started_.tv_sec, started_.tv_nsec);
}

absl::Status Layers::Refuse(absl::string_view path, absl::string_view why) const {
  return absl::FailedPreconditionError(absl::StrCat("keep '", path, "' in '", folder_, "': ", why));
}

absl::StatusOr<Layers::Place> Layers::Find(const Change& change) const {
  Place place;
  place.upper = HeldFolder(UniqueFd(fcntl(upper_.get(), F_DUPFD_CLOEXEC, 3)));
  place.lower = UniqueFd(fcntl(lower_.get(), F_DUPFD_CLOEXEC, 3));
  if (!place.upper.ok() || !place.lower.ok()) return ErrnoStatus(errno, "duplicate a descriptor");
  const std::vector<std::string> names = absl::StrSplit(change.path, '/');
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    absl::StatusOr<HeldFolder> upper = HeldFolder::Open(place.upper.get(), names[i]);
    // Below a folder that replaces another, deleted things have no upper side.
    if (!upper.ok() && change.kind != Change::Kind::kDeleted) return upper.status();
    place.upper = upper.ok() ? *std::move(upper) : HeldFolder();
    if (!place.lower.ok()) continue;
    absl::StatusOr<UniqueFd> lower = OpenFolder(place.lower.get(), names[i]);
    place.lower = lower.ok() ? *std::move(lower) : UniqueFd();
  }
  place.name = names.back();
  if (place.lower.ok()) {
    place.there =
        fstatat(place.lower.get(), place.name.c_str(), &place.below, AT_SYMLINK_NOFOLLOW) == 0;
  }
  return place;
}

// A folder that goes away takes with it only what the session knew.
absl::Status Layers::CheckTree(int folder, const std::string& name, absl::string_view path,
                               int depth) const {
  if (depth == 0) return Refuse(path, "it lies too deep");
  ABSL_ASSIGN_OR_RETURN(const UniqueFd fd, OpenFolder(folder, name));
  struct stat st;
  if (fstat(fd.get(), &st) != 0) return ErrnoStatus(errno, absl::StrCat("stat '", path, "'"));
  if (IsNewer(st)) return Refuse(path, "something in it has changed since the session began");
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> names, berth::ListFolder(fd.get()));
  for (const std::string& each : names) {
    if (fstatat(fd.get(), each.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(st.st_mode)) {
      ABSL_RETURN_IF_ERROR(CheckTree(fd.get(), each, absl::StrCat(path, "/", each), depth - 1));
    } else if (IsNewer(st)) {
      return Refuse(absl::StrCat(path, "/", each), "it has changed since the session began");
    }
  }
  return absl::OkStatus();
}

absl::Status Layers::CheckPlace(const Change& change, const Place& place) const {
  if (change.kind != Change::Kind::kDeleted && change.type == Change::Type::kOther) {
    return Refuse(change.path, "it is neither a file nor a folder nor a symlink");
  }
  if (change.kind == Change::Kind::kAdded) {
    return place.there ? Refuse(change.path, "something else was made there meanwhile")
                       : absl::OkStatus();
  }
  if (!place.there) return Refuse(change.path, "it was removed meanwhile");
  const bool was_folder = S_ISDIR(place.below.st_mode);
  if (was_folder && change.kind == Change::Kind::kChanged && change.type == Change::Type::kFolder) {
    return absl::OkStatus();  // what is in it has changes of its own
  }
  if (was_folder) return CheckTree(place.lower.get(), place.name, change.path, kDepth);
  return IsNewer(place.below) ? Refuse(change.path, "it has changed since the session began")
                              : absl::OkStatus();
}

absl::Status Layers::Check(const Change& change) const {
  ABSL_ASSIGN_OR_RETURN(const Place place, Find(change));
  return CheckPlace(change, place);
}

// The new file or link, under a name of our own beside the place.
absl::Status Layers::CopyAside(const Change& change, const Place& place) const {
  const std::string what = absl::StrCat("make '", change.path, "' in '", folder_, "'");
  if (change.type == Change::Type::kSymlink) {
    ABSL_ASSIGN_OR_RETURN(const std::string text, ReadLinkText(place.upper.get(), place.name));
    return symlinkat(text.c_str(), place.lower.get(), place.aside.c_str()) == 0
               ? absl::OkStatus()
               : ErrnoStatus(errno, what);
  }
  ABSL_ASSIGN_OR_RETURN(const UniqueFd from, OpenFileToRead(place.upper.get(), place.name));
  struct stat st;
  const UniqueFd to(openat(place.lower.get(), place.aside.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to.ok() || fstat(from.get(), &st) != 0) return ErrnoStatus(errno, what);
  ABSL_RETURN_IF_ERROR(CopyBytes(from.get(), to.get(), st.st_size));
  // Root keeps others' files theirs.
  const bool owned = !place.there || geteuid() != 0 ||
                     fchown(to.get(), place.below.st_uid, place.below.st_gid) == 0;
  if (!owned || fchmod(to.get(), st.st_mode & kModes) != 0 || fsync(to.get()) != 0) {
    return ErrnoStatus(errno, what);
  }
  return absl::OkStatus();
}

absl::Status Layers::PutInPlace(const Change& change, const Place& place) const {
  const int lower = place.lower.get();
  const std::string what = absl::StrCat("put '", change.path, "' in '", folder_, "'");
  if (place.there && S_ISDIR(place.below.st_mode)) {
    ABSL_RETURN_IF_ERROR(TakeAway(change, place));
  } else if (place.there) {
    if (const int error = Rename(lower, place.aside, place.name, RENAME_EXCHANGE); error != 0) {
      return ErrnoStatus(error, what);
    }
    struct stat old;
    const bool same = fstatat(lower, place.aside.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 &&
                      SameThing(old, place.below);
    if (same) return absl::OkStatus();
    Rename(lower, place.aside, place.name, RENAME_EXCHANGE);
    return Refuse(change.path, "it was changed just now");
  }
  const int error = Rename(lower, place.aside, place.name, RENAME_NOREPLACE);
  if (error == EEXIST) return Refuse(change.path, "something else was made there just now");
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, what);
}

// Out of sight in one step, then to pieces.
absl::Status Layers::TakeAway(const Change& change, const Place& place) const {
  ABSL_ASSIGN_OR_RETURN(const std::string id, RandomHexId());
  const std::string aside = absl::StrCat(".berth-old-", id);
  const int lower = place.lower.get();
  if (const int error = Rename(lower, place.name, aside, RENAME_NOREPLACE); error != 0) {
    return ErrnoStatus(error, absl::StrCat("remove '", change.path, "' in '", folder_, "'"));
  }
  struct stat old;
  if (fstatat(lower, aside.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0 ||
      !SameThing(old, place.below)) {
    Rename(lower, aside, place.name, RENAME_NOREPLACE);
    return Refuse(change.path, "it was changed just now");
  }
  const int error = RemoveTree(lower, aside.c_str());
  return error == 0 ? absl::OkStatus()
                    : ErrnoStatus(error, absl::StrCat("remove '", folder_, "/", aside, "'"));
}

absl::Status Layers::MakeFolder(const Change& change, const Place& place) const {
  if (place.there && S_ISDIR(place.below.st_mode)) return absl::OkStatus();  // Finish has its mode
  if (place.there) {
    ABSL_RETURN_IF_ERROR(TakeAway(change, place));
  }
  if (mkdirat(place.lower.get(), place.name.c_str(), 0700) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("make folder '", change.path, "' in '", folder_, "'"));
}

absl::Status Layers::Make(const Change& change) const {
  ABSL_ASSIGN_OR_RETURN(Place place, Find(change));
  ABSL_RETURN_IF_ERROR(CheckPlace(change, place));
  if (!place.lower.ok()) return Refuse(change.path, "the folder that it was in is gone");
  if (change.kind == Change::Kind::kDeleted) return TakeAway(change, place);
  if (change.type == Change::Type::kFolder) return MakeFolder(change, place);
  ABSL_ASSIGN_OR_RETURN(const std::string id, RandomHexId());
  place.aside = absl::StrCat(".berth-new-", id);
  absl::Status made = CopyAside(change, place);
  if (made.ok()) made = PutInPlace(change, place);
  unlinkat(place.lower.get(), place.aside.c_str(), 0);  // the old one, or what came to nothing
  return made;
}

absl::Status Layers::Finish(const Change& change) const {
  if (change.type != Change::Type::kFolder || change.kind == Change::Kind::kDeleted) {
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(const Place place, Find(change));
  struct stat above;
  if (!place.lower.ok() ||
      fstatat(place.upper.get(), place.name.c_str(), &above, AT_SYMLINK_NOFOLLOW) != 0) {
    return Refuse(change.path, "it is gone");
  }
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, OpenFolder(place.lower.get(), place.name));
  return fchmod(folder.get(), above.st_mode & kModes) == 0
             ? absl::OkStatus()
             : ErrnoStatus(errno, absl::StrCat("set the mode of '", change.path, "'"));
}

}  // namespace berth
