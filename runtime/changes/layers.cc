#include "runtime/changes/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/changes/files.h"
#include "runtime/record/files.h"
#include "runtime/record/record.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/launcher/placeholder_link.h"

namespace berth {

// What has been found so far.
struct Layers::Walk {
  static constexpr size_t kMost = 1 << 20;
  static constexpr int kDepth = 128;  // two descriptors each
  std::vector<Change>* changes;
};

namespace {

bool IsWhiteout(const struct stat& st) { return S_ISCHR(st.st_mode) && st.st_rdev == 0; }

// What a sandbox puts where a carve-out does not exist, as long as it runs, counts as nothing: in
// the upper layer it is its own, in the lower one another's.
bool Exists(int folder, const std::string& name, struct stat* st) {
  return folder >= 0 && fstatat(folder, name.c_str(), st, AT_SYMLINK_NOFOLLOW) == 0 &&
         !(S_ISLNK(st->st_mode) && launcher::IsPlaceholderLink(folder, name.c_str()));
}

bool IsOpaque(int folder) {
  char value;
  return fgetxattr(folder, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

Change::Type TypeOf(const struct stat& st) {
  switch (st.st_mode & S_IFMT) {
    case S_IFREG:
      return Change::Type::kFile;
    case S_IFDIR:
      return Change::Type::kFolder;
    case S_IFLNK:
      return Change::Type::kSymlink;
    default:
      return Change::Type::kOther;
  }
}

}  // namespace

Layers::Layers(std::string folder, UniqueFd lower, UniqueFd upper, timespec started)
    : folder_(std::move(folder)),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      started_(started) {}

absl::StatusOr<Layers> Layers::Open(int session_fd, int index, const std::string& folder) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd changes, OpenFolder(session_fd, kChangesFolder));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd own, OpenFolder(changes.get(), absl::StrCat(index)));
  ABSL_ASSIGN_OR_RETURN(UniqueFd upper, OpenFolder(own.get(), "upper"));
  struct stat started;
  if (!Exists(own.get(), "started", &started)) {
    return ErrnoStatus(errno, "find out when the session began");
  }
  UniqueFd lower(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lower.ok()) return ErrnoStatus(errno, absl::StrCat("open '", folder, "'"));
  return Layers(folder, std::move(lower), std::move(upper), started.st_ctim);
}

void Layers::Add(Walk* walk, Change::Kind kind, const struct stat& st,
                 const std::string& path) const {
  const Change::Type type = TypeOf(st);
  const bool sized = type == Change::Type::kFile && kind != Change::Kind::kDeleted;
  walk->changes->push_back({.kind = kind,
                            .type = type,
                            .folder = folder_,
                            .path = path,
                            .bytes = sized ? int64_t{st.st_size} : 0});
}

absl::Status Layers::List(std::vector<Change>* changes) const {
  Walk walk{changes};
  return ListFolder(&walk, upper_.get(), lower_.get(), "", Walk::kDepth);
}

absl::Status Layers::ListFolder(Walk* walk, int upper, int lower, const std::string& prefix,
                                int depth) const {
  if (depth == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the changes of '", folder_, "' lie too deep at '", prefix, "'"));
  }
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> names, berth::ListFolder(upper));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    ABSL_RETURN_IF_ERROR(ListEntry(walk, upper, lower, name, absl::StrCat(prefix, name), depth));
    if (walk->changes->size() > Walk::kMost) {
      return absl::ResourceExhaustedError(
          absl::StrCat("'", folder_, "' has more than ", Walk::kMost, " changes"));
    }
  }
  return IsOpaque(upper) ? ListReplaced(walk, upper, lower, prefix) : absl::OkStatus();
}

// A folder that was removed and made again hides all that the real one has.
absl::Status Layers::ListReplaced(Walk* walk, int upper, int lower,
                                  const std::string& prefix) const {
  if (lower < 0) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> names, berth::ListFolder(lower));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    struct stat above, below;
    if (Exists(upper, name, &above) || !Exists(lower, name, &below)) continue;
    Add(walk, Change::Kind::kDeleted, below, absl::StrCat(prefix, name));
  }
  return absl::OkStatus();
}

absl::Status Layers::ListEntry(Walk* walk, int upper, int lower, const std::string& name,
                               const std::string& path, int depth) const {
  struct stat above, below;
  if (!Exists(upper, name, &above)) return absl::OkStatus();  // a placeholder, or gone since
  const bool there = Exists(lower, name, &below);
  if (IsWhiteout(above)) {
    if (there) Add(walk, Change::Kind::kDeleted, below, path);
    return absl::OkStatus();
  }
  const bool same_type = there && (above.st_mode & S_IFMT) == (below.st_mode & S_IFMT);
  if (!same_type) {
    Add(walk, there ? Change::Kind::kChanged : Change::Kind::kAdded, above, path);
  } else if (!SameEntry(upper, above, lower, below, name)) {
    Add(walk, Change::Kind::kChanged, above, path);
  }
  if (!S_ISDIR(above.st_mode)) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const HeldFolder inside, HeldFolder::Open(upper, name));
  UniqueFd beneath;
  if (same_type) {
    ABSL_ASSIGN_OR_RETURN(beneath, OpenFolder(lower, name));
  }
  return ListFolder(walk, inside.get(), beneath.get(), absl::StrCat(path, "/"), depth - 1);
}

}  // namespace berth
