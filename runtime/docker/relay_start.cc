#include "runtime/docker/relay_start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/docker/relay/relay_tls_image.h"
#include "runtime/docker/relay_path.h"
#include "runtime/record/random_id.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/protocol.h"

namespace berth {
namespace {

constexpr char kFilterFile[] = "filter";

}  // namespace

absl::StatusOr<std::string> RelayPath(bool tls) {
  if (!tls) return PlainRelayPath();
  static const auto* const fd = new absl::StatusOr<int>(MakeRelay(RelayTlsImage()));
  ABSL_RETURN_IF_ERROR(fd->status());
  return PathOfRelay(**fd);
}

absl::Status KeepFilter(const Store& store, const std::string& uid, absl::string_view filter) {
  if (filter.empty()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, store.OpenSessionDir(uid));
  const UniqueFd file(openat(folder.get(), kFilterFile,
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok() ||
      write(file.get(), filter.data(), filter.size()) != static_cast<ssize_t>(filter.size())) {
    return ErrnoStatus(errno, "keep the filter of system calls");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> KeptFilter(const Store& store, const std::string& uid) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, store.OpenSessionDir(uid));
  const UniqueFd file(openat(folder.get(), kFilterFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok() && errno == ENOENT) return "";
  std::string filter(1 << 20, '\0');
  const ssize_t n = file.ok() ? read(file.get(), filter.data(), filter.size()) : -1;
  // Not run without it.
  if (n <= 0) return ErrnoStatus(errno, "read the filter of system calls");
  filter.resize(static_cast<size_t>(n));
  return filter;
}

absl::StatusOr<StartReport> StartReport::Make(const Store& store, const std::string& uid) {
  StartReport report;
  ABSL_ASSIGN_OR_RETURN(const std::string id, RandomHexId());
  report.name_ = absl::StrCat("start-", id);
  ABSL_ASSIGN_OR_RETURN(report.folder_, store.OpenSessionDir(uid));
  report.path_ = absl::StrCat(store.dir().path(), "/sessions/", uid, "/", report.name_);
  if (mkfifoat(report.folder_.get(), report.name_.c_str(), 0600) != 0)
    return ErrnoStatus(errno, absl::StrCat("make fifo '", report.path_, "'"));
  report.fifo_ = UniqueFd(openat(report.folder_.get(), report.name_.c_str(),
                                 O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!report.fifo_.ok()) return ErrnoStatus(errno, absl::StrCat("open '", report.path_, "'"));
  return report;
}

StartReport::~StartReport() {
  if (folder_.ok()) unlinkat(folder_.get(), name_.c_str(), 0);
}

absl::Status StartReport::Wait(absl::string_view program, absl::string_view cwd, int gone_fd,
                               absl::Time deadline) const {
  absl::Status waited =
      WaitFdOrCancel(fifo_.get(), POLLIN, gone_fd, deadline, "wait for the container's start");
  char text[4096];
  const ssize_t n = read(fifo_.get(), text, sizeof(text));
  if (n <= 0) {
    if (absl::IsDeadlineExceeded(waited)) return waited;
    return absl::UnavailableError("the relay ended before the container's program started");
  }
  const absl::string_view told(text, static_cast<size_t>(n));
  if (told[0] == 'R') return absl::OkStatus();
  const std::vector<absl::string_view> words = absl::StrSplit(told, absl::MaxSplits(' ', 2));
  int first = 0, second = 0;
  if (told[0] == 'E' && words.size() == 3 && absl::SimpleAtoi(words[1], &first) &&
      absl::SimpleAtoi(words[2], &second)) {
    return launcher::StartError(static_cast<launcher::Step>(first), second, program, cwd);
  }
  if (words.size() == 3 && absl::SimpleAtoi(words[1], &first)) {
    const std::string what(words[2]);
    if (first == 404) return absl::NotFoundError(what);
    if (first == 400) return absl::InvalidArgumentError(what);
    if (first == 409) return absl::FailedPreconditionError(what);
    return first == 0 ? absl::UnavailableError(what) : absl::InternalError(what);
  }
  return absl::InternalError("the relay gave a malformed answer");
}

}  // namespace berth
