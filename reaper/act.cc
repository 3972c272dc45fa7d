#include "reaper/act.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "reaper/mounts.h"
#include "reaper/proof.h"
#include "runtime/record/files.h"
#include "runtime/record/session_name.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

// The folder that `path` lies in, and its last part.
struct Split {
  std::string folder, last;
  explicit Split(const std::string& path)
      : folder(path.substr(0, path.rfind('/'))), last(path.substr(path.rfind('/') + 1)) {
    if (folder.empty()) folder = "/";
  }
};

absl::Status Failed(const std::string& path) {
  return ErrnoStatus(errno, absl::StrCat("remove ", ShowText(path, PATH_MAX)));
}

// A socket by its whole path: it lies below $XDG_RUNTIME_DIR, which cron does not have.
absl::Status RemoveSocket(const Store& store, const Record& record) {
  if (unlinkat(store.dir().run_fd(), record.uid.c_str(), 0) != 0 && errno != ENOENT) {
    return Failed(absl::StrCat(store.dir().run_path(), "/", record.uid));
  }
  if (record.socket.empty()) return absl::OkStatus();
  const Split path(record.socket);
  struct stat entry;
  const UniqueFd folder(open(path.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || fstatat(folder.get(), path.last.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
    return absl::OkStatus();
  }
  if (path.last != record.uid || !S_ISSOCK(entry.st_mode) || entry.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(
        ShowText(record.socket), " in the record is not the session's socket: left alone"));
  }
  if (unlinkat(folder.get(), path.last.c_str(), 0) != 0 && errno != ENOENT) {
    return Failed(record.socket);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RemoveTempDir(const std::string& path, const std::string& uid) {
  const Split split(path);
  absl::string_view rest = split.last;
  if (!absl::ConsumePrefix(&rest, absl::StrCat("berth-", uid)) ||
      (!rest.empty() && rest[0] != '-' && rest[0] != '.')) {
    return absl::FailedPreconditionError(
        absl::StrCat("folder ", ShowText(path, PATH_MAX),
                     " in the record does not carry the session's id: left alone"));
  }
  const UniqueFd parent(open(split.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent.ok()) return errno == ENOENT ? absl::OkStatus() : Failed(path);
  ABSL_RETURN_IF_ERROR(UnmountBelow(parent.get(), split.last));
  const UniqueFd dir(
      openat(parent.get(), split.last.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir.ok()) return errno == ENOENT ? absl::OkStatus() : Failed(path);
  struct stat folder, above;
  if (fstat(dir.get(), &folder) != 0 || fstat(parent.get(), &above) != 0) return Failed(path);
  if (folder.st_uid != geteuid() || folder.st_dev != above.st_dev) {
    return absl::FailedPreconditionError(
        absl::StrCat("folder ", ShowText(path, PATH_MAX),
                     " is another user's, or something is mounted there: left alone"));
  }
  // Its owner may have taken its own rights away.
  fchmod(dir.get(), 0700);
  ABSL_RETURN_IF_ERROR(EmptyFolder(dir.get()));
  if (unlinkat(parent.get(), split.last.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return Failed(path);
  }
  return absl::OkStatus();
}

absl::Status Clear(const Store& store, const Record& record, const Engines& engines,
                   const EndOptions& options) {
  ABSL_RETURN_IF_ERROR(ProveProcesses(store, record));
  ABSL_RETURN_IF_ERROR(EndProcesses(record, options));
  if (NeedsEngine(record)) {
    Engine* engine = EngineOf(engines, record);
    if (engine == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("sessions of ", record.backend, " cannot be ended by this reaper"));
    }
    ABSL_RETURN_IF_ERROR(engine->End(record, options));
  }
  ABSL_RETURN_IF_ERROR(UnmountBelow(store.dir().sessions_fd(), record.uid));
  ABSL_RETURN_IF_ERROR(RemoveSocket(store, record));
  for (const std::string& path : record.temp_dirs) {
    ABSL_RETURN_IF_ERROR(RemoveTempDir(path, record.uid));
  }
  return absl::OkStatus();
}

absl::Status Reap(const Store& store, const Record& record, const Engines& engines,
                  const EndOptions& options) {
  ABSL_RETURN_IF_ERROR(Clear(store, record, engines, options));
  return store.Remove(record.uid);
}

}  // namespace berth::reaper
