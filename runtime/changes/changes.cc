#include "runtime/changes/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/changes/layers.h"
#include "runtime/record/files.h"
#include "runtime/record/record.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/remove_tree.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr size_t kMostNamed = 5;  // in one message

absl::StatusOr<UniqueFd> MakeFolder(int dir_fd, const std::string& name) {
  if (mkdirat(dir_fd, name.c_str(), 0700) != 0) {
    return ErrnoStatus(errno, absl::StrCat("make folder '", name, "'"));
  }
  return OpenFolder(dir_fd, name);
}

// The upper layer gives the folder its mode; the state directory around it keeps others out.
absl::Status MakeUpper(int own_fd, const std::string& folder) {
  struct stat st;
  if (stat(folder.c_str(), &st) != 0)
    return ErrnoStatus(errno, absl::StrCat("stat '", folder, "'"));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd upper, MakeFolder(own_fd, "upper"));
  return fchmod(upper.get(), (st.st_mode & 0777) | S_IRWXU) == 0
             ? absl::OkStatus()
             : ErrnoStatus(errno, "set the mode of a layer");
}

bool IsAtOrBelow(absl::string_view path, absl::string_view above) {
  return path == above || (absl::StartsWith(path, above) && path[above.size()] == '/');
}

// The ones that were asked for, and the new folders that these are in.
bool Chosen(const Change& change, const std::vector<std::string>& paths) {
  return paths.empty() || std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
           return IsAtOrBelow(change.path, path) ||
                  (change.type == Change::Type::kFolder && change.kind != Change::Kind::kDeleted &&
                   IsAtOrBelow(path, change.path));
         });
}

absl::Status CheckChosen(const std::vector<Change>& changes,
                         const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const bool known = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      return IsAtOrBelow(change.path, path);
    });
    if (!known) return absl::NotFoundError(absl::StrCat("'", path, "' has not changed"));
  }
  return absl::OkStatus();
}

absl::Status CheckAll(const Layers& layers, const std::vector<Change>& changes) {
  std::vector<std::string> refused;
  for (const Change& change : changes) {
    const absl::Status status = layers.Check(change);
    if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
    if (!status.ok()) refused.emplace_back(status.message());
    if (refused.size() == kMostNamed) break;
  }
  return refused.empty() ? absl::OkStatus()
                         : absl::FailedPreconditionError(absl::StrJoin(refused, "; "));
}

}  // namespace

absl::Status MakeChangeFolders(int session_fd, const std::vector<std::string>& folders) {
  if (folders.empty()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const UniqueFd changes, MakeFolder(session_fd, kChangesFolder));
  for (size_t i = 0; i < folders.size(); ++i) {
    ABSL_ASSIGN_OR_RETURN(const UniqueFd own, MakeFolder(changes.get(), absl::StrCat(i)));
    ABSL_RETURN_IF_ERROR(MakeUpper(own.get(), folders[i]));
    ABSL_RETURN_IF_ERROR(MakeFolder(own.get(), "work").status());
    const UniqueFd started(
        openat(own.get(), "started", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!started.ok()) return ErrnoStatus(errno, "note when the session began");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Change>> ListChanges(int session_fd,
                                                const std::vector<std::string>& folders) {
  std::vector<Change> changes;
  for (size_t i = 0; i < folders.size(); ++i) {
    ABSL_ASSIGN_OR_RETURN(const Layers layers,
                          Layers::Open(session_fd, static_cast<int>(i), folders[i]));
    ABSL_RETURN_IF_ERROR(layers.List(&changes));
  }
  return changes;
}

absl::Status KeepChanges(int session_fd, const std::vector<std::string>& folders,
                         const std::vector<std::string>& paths) {
  if (folders.empty()) {
    return absl::FailedPreconditionError("the session has no copy-on-write folder");
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<Change> all, ListChanges(session_fd, folders));
  ABSL_RETURN_IF_ERROR(CheckChosen(all, paths));
  std::vector<std::pair<Layers, std::vector<Change>>> work;
  for (size_t i = 0; i < folders.size(); ++i) {
    ABSL_ASSIGN_OR_RETURN(Layers layers, Layers::Open(session_fd, static_cast<int>(i), folders[i]));
    std::vector<Change> changes;
    std::copy_if(all.begin(), all.end(), std::back_inserter(changes), [&](const Change& change) {
      return change.folder == folders[i] && Chosen(change, paths);
    });
    ABSL_RETURN_IF_ERROR(CheckAll(layers, changes));  // nothing is made if one cannot be
    work.emplace_back(std::move(layers), std::move(changes));
  }
  for (const auto& [layers, changes] : work) {
    for (const Change& change : changes) ABSL_RETURN_IF_ERROR(layers.Make(change));
    // The innermost first: a folder may be closed to its owner by its mode.
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      ABSL_RETURN_IF_ERROR(layers.Finish(*change));
    }
  }
  return absl::OkStatus();
}

absl::Status DiscardChanges(int session_fd, const std::vector<std::string>& folders) {
  if (folders.empty()) {
    return absl::FailedPreconditionError("the session has no copy-on-write folder");
  }
  ABSL_ASSIGN_OR_RETURN(const UniqueFd changes, OpenFolder(session_fd, kChangesFolder));
  for (size_t i = 0; i < folders.size(); ++i) {
    ABSL_ASSIGN_OR_RETURN(const UniqueFd own, OpenFolder(changes.get(), absl::StrCat(i)));
    if (const int error = RemoveTree(own.get(), "upper"); error != 0) {
      return ErrnoStatus(error, "discard the changes");
    }
    ABSL_RETURN_IF_ERROR(MakeUpper(own.get(), folders[i]));
  }
  return absl::OkStatus();
}

}  // namespace berth
