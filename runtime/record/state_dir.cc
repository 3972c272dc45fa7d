#include "runtime/record/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/record/files.h"
#include "runtime/record/random_id.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr char kInstallId[] = "install_id";

std::string Variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<std::string> DefaultPath() {
  if (std::string path = Variable("BERTH_STATE_DIR"); !path.empty()) return path;
  // The XDG specification has relative paths ignored.
  if (std::string path = Variable("XDG_STATE_HOME"); path.starts_with('/')) return path + "/berth";
  if (std::string path = Variable("HOME"); path.starts_with('/'))
    return path + "/.local/state/berth";
  return absl::FailedPreconditionError(
      "no place for the state directory: set BERTH_STATE_DIR, XDG_STATE_HOME or HOME");
}

// Makes the folders above `path`. Those that exist are the system's or the user's affair.
absl::Status MakeParents(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string parent = path.substr(0, at);
    if (mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) {
      // A read-only or foreign parent that exists gives another error than EEXIST on some file
      // systems.
      const int error = errno;
      struct stat entry;
      if (stat(parent.c_str(), &entry) != 0) {
        return ErrnoStatus(error, absl::StrCat("make folder '", parent, "'"));
      }
    }
  }
  return absl::OkStatus();
}

// Opens `name` in `dir_fd`, making it if need be, and refuses it unless it is ours alone to write.
absl::StatusOr<UniqueFd> OpenPrivate(int dir_fd, const std::string& name,
                                     const std::string& shown) {
  if (mkdirat(dir_fd, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("make folder '", shown, "'"));
  }
  struct stat entry;
  if (fstatat(dir_fd, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(errno, absl::StrCat("stat '", shown, "'"));
  }
  if (S_ISLNK(entry.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", shown, "' is a symlink: name the folder itself, or remove the link"));
  }
  if (!S_ISDIR(entry.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", shown, "' is not a folder: move it away, or set BERTH_STATE_DIR"));
  }
  UniqueFd fd(openat(dir_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open folder '", shown, "'"));
  if (fstat(fd.get(), &entry) != 0) return ErrnoStatus(errno, absl::StrCat("stat '", shown, "'"));
  if (entry.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", shown, "' belongs to uid ", entry.st_uid, ", not to uid ", geteuid(),
                     ": set BERTH_STATE_DIR to a folder of this user"));
  }
  if ((entry.st_mode & 022) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", shown, "' can be written by others: run chmod 0700 on it"));
  }
  return fd;
}

absl::StatusOr<std::string> ReadInstallId(int root_fd, const std::string& root) {
  ABSL_ASSIGN_OR_RETURN(std::string text, ReadSmallFile(root_fd, kInstallId, 4096));
  absl::string_view id = absl::StripSuffix(text, "\n");
  if (!IsHexId(id)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", root,
        "/install_id' does not hold 32 hex digits: put the old id back, or remove the file"));
  }
  return std::string(id);
}

absl::StatusOr<std::string> InstallId(int root_fd, const std::string& root) {
  absl::StatusOr<std::string> id = ReadInstallId(root_fd, root);
  if (!absl::IsNotFound(id.status())) return id;
  ABSL_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(root_fd));
  id = ReadInstallId(root_fd, root);
  if (!absl::IsNotFound(id.status())) return id;
  ABSL_ASSIGN_OR_RETURN(std::string made, RandomHexId());
  ABSL_RETURN_IF_ERROR(WriteFileDurably(root_fd, kInstallId, ".install_id.tmp", made + "\n"));
  return ReadInstallId(root_fd, root);
}

// Whether sockets go below $XDG_RUNTIME_DIR: only if that is a folder of this user, as it should
// be.
bool IsOwnFolder(const std::string& path) {
  struct stat entry;
  return path.starts_with('/') && stat(path.c_str(), &entry) == 0 && S_ISDIR(entry.st_mode) &&
         entry.st_uid == geteuid() && (entry.st_mode & 022) == 0;
}

}  // namespace

absl::StatusOr<StateDir> StateDir::Open(std::string path) {
  const bool chosen = !path.empty() || !Variable("BERTH_STATE_DIR").empty();
  if (path.empty()) {
    ABSL_ASSIGN_OR_RETURN(path, DefaultPath());
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!path.starts_with('/') || path == "/" || path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("state directory '", path, "': it must be an absolute path below /"));
  }

  StateDir dir;
  ABSL_RETURN_IF_ERROR(MakeParents(path));
  ABSL_ASSIGN_OR_RETURN(dir.root_, OpenPrivate(AT_FDCWD, path, path));
  for (auto [fd, name] :
       {std::pair(&dir.sessions_, "sessions"), std::pair(&dir.names_, "names"),
        std::pair(&dir.owners_, "owners"), std::pair(&dir.quarantine_, "quarantine")}) {
    ABSL_ASSIGN_OR_RETURN(*fd, OpenPrivate(dir.root_.get(), name, absl::StrCat(path, "/", name)));
  }
  if (const std::string runtime = Variable("XDG_RUNTIME_DIR"); !chosen && IsOwnFolder(runtime)) {
    dir.run_path_ = runtime + "/berth";
    ABSL_ASSIGN_OR_RETURN(dir.run_, OpenPrivate(AT_FDCWD, dir.run_path_, dir.run_path_));
  } else {
    dir.run_path_ = path + "/run";
    ABSL_ASSIGN_OR_RETURN(dir.run_, OpenPrivate(dir.root_.get(), "run", dir.run_path_));
  }
  ABSL_ASSIGN_OR_RETURN(dir.install_id_, InstallId(dir.root_.get(), path));
  dir.path_ = std::move(path);
  return dir;
}

}  // namespace berth
