#include "runtime/record/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/record/proc_stat.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr long kProcMagic = 0x9fa0;
constexpr long kPidfsMagic = 0x50494446;

// /proc, and the caller's pid namespace, once it is clear that /proc shows that one.
struct Proc {
  UniqueFd fd;
  uint64_t pid_namespace = 0;
};

absl::StatusOr<Proc> OpenProc() {
  Proc proc;
  proc.fd.reset(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct statfs fs;
  if (!proc.fd.ok() || fstatfs(proc.fd.get(), &fs) != 0 || fs.f_type != kProcMagic) {
    return absl::FailedPreconditionError("/proc is not mounted: processes cannot be told apart");
  }
  char self[32];
  const ssize_t length = readlinkat(proc.fd.get(), "self", self, sizeof self);
  int64_t pid = 0;
  if (length <= 0 ||
      !absl::SimpleAtoi(absl::string_view(self, static_cast<size_t>(length)), &pid) ||
      pid != getpid()) {
    return absl::FailedPreconditionError(
        "/proc is of another pid namespace: mount one of this namespace");
  }
  struct stat ns;
  if (fstatat(proc.fd.get(), "self/ns/pid", &ns, 0) == 0) proc.pid_namespace = ns.st_ino;
  return proc;
}

absl::StatusOr<std::string> ReadProc(const Proc& proc, const std::string& path) {
  UniqueFd fd(openat(proc.fd.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open /proc/", path));
  char text[4096];
  ssize_t got;
  do {
    got = read(fd.get(), text, sizeof text);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return ErrnoStatus(errno, absl::StrCat("read /proc/", path));
  return std::string(text, static_cast<size_t>(got));
}

absl::StatusOr<std::string> ReadBootId(const Proc& proc) {
  ABSL_ASSIGN_OR_RETURN(std::string text, ReadProc(proc, "sys/kernel/random/boot_id"));
  absl::StripAsciiWhitespace(&text);
  if (text.empty()) return absl::InternalError("boot_id is empty");
  return text;
}

absl::Status Gone(int64_t pid) {
  return absl::NotFoundError(absl::StrCat("process ", pid, ": it is gone"));
}

UniqueFd PidfdOpen(int64_t pid) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

// Readable once the last thread has ended; until then a process lives, even if its first thread is
// a zombie.
bool HasEnded(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

// Before pidfs (Linux 6.9) all pidfds share one inode. On 32 bits the number wraps, and is of no
// use.
uint64_t PidfsInode(int pidfd) {
  struct statfs fs;
  struct stat file;
  if (sizeof(file.st_ino) < 8 || fstatfs(pidfd, &fs) != 0 || fs.f_type != kPidfsMagic) return 0;
  return fstat(pidfd, &file) == 0 ? file.st_ino : 0;
}

struct Found {
  UniqueFd pidfd;  // not ok() where the kernel or a seccomp filter refuses pidfd_open
  Identity identity;
};

// The process that has `pid` now. NotFound only if there is provably none that runs.
absl::StatusOr<Found> FindByPid(const Proc& proc, int64_t pid) {
  if (pid <= 0 || pid > INT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat("process ", pid, ": not a pid"));
  }
  Found found;
  found.pidfd = PidfdOpen(pid);
  // EINVAL and ENOENT: the number is that of a thread now.
  if (!found.pidfd.ok() && (errno == ESRCH || errno == EINVAL || errno == ENOENT)) return Gone(pid);

  absl::StatusOr<std::string> text = ReadProc(proc, absl::StrCat(pid, "/stat"));
  if (!text.ok()) {
    // With hidepid= another user's processes are not in /proc though they run.
    if (found.pidfd.ok() && HasEnded(found.pidfd.get())) return Gone(pid);
    if (!found.pidfd.ok() && absl::IsNotFound(text.status()) &&
        kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) {
      return Gone(pid);
    }
    return absl::FailedPreconditionError(text.status().message());
  }
  const std::optional<ProcStat> stat = ParseProcStat(*text);
  if (!stat) return absl::InternalError(absl::StrCat("parse /proc/", pid, "/stat"));
  if (found.pidfd.ok()) {
    // After the reading: a pidfd that has not ended held the pid all the while, so both are of one
    // process.
    if (HasEnded(found.pidfd.get())) return Gone(pid);
    found.identity.pidfs_inode = PidfsInode(found.pidfd.get());
  } else if (stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1)) {
    return Gone(pid);
  }
  found.identity.pid = pid;
  found.identity.start_time = stat->start_time;
  found.identity.pid_namespace = proc.pid_namespace;
  return found;
}

// What is the same for all identities. FailedPrecondition where nothing can be proven.
struct Surroundings {
  Proc proc;
  std::string boot_id;
};

absl::StatusOr<Surroundings> LookAround() {
  Surroundings here;
  ABSL_ASSIGN_OR_RETURN(here.proc, OpenProc());
  absl::StatusOr<std::string> boot_id = ReadBootId(here.proc);
  if (!boot_id.ok()) return absl::FailedPreconditionError(boot_id.status().message());
  here.boot_id = *std::move(boot_id);
  return here;
}

// OK if the pid of `identity` is one that counts here and now.
absl::Status CheckPlace(const absl::StatusOr<Surroundings>& here, const Identity& identity) {
  if (identity.pid == 0 || identity.boot_id.empty()) {
    return absl::FailedPreconditionError("an identity of no process");
  }
  ABSL_RETURN_IF_ERROR(here.status());
  if (here->boot_id != identity.boot_id) {
    return absl::NotFoundError(absl::StrCat("process ", identity.pid, ": of an earlier boot"));
  }
  if (identity.pid_namespace != 0 && identity.pid_namespace != here->proc.pid_namespace) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", identity.pid, ": of another pid namespace than this one"));
  }
  return absl::OkStatus();
}

// The process of `identity`: NotFound if it is proven dead, any other error if nothing is proven.
absl::StatusOr<Found> FindByIdentity(const absl::StatusOr<Surroundings>& here,
                                     const Identity& identity) {
  ABSL_RETURN_IF_ERROR(CheckPlace(here, identity));
  ABSL_ASSIGN_OR_RETURN(Found found, FindByPid(here->proc, identity.pid));
  const bool same_inode = identity.pidfs_inode == 0 || found.identity.pidfs_inode == 0 ||
                          identity.pidfs_inode == found.identity.pidfs_inode;
  if (!same_inode || identity.start_time != found.identity.start_time) {
    return absl::NotFoundError(
        absl::StrCat("process ", identity.pid, ": it is gone, and its pid is another's now"));
  }
  return found;
}

}  // namespace

absl::string_view LivenessName(Liveness liveness) {
  switch (liveness) {
    case Liveness::kAlive:
      return "alive";
    case Liveness::kDead:
      return "dead";
    case Liveness::kUnknown:
      break;
  }
  return "unknown";
}

absl::StatusOr<std::string> BootId() {
  ABSL_ASSIGN_OR_RETURN(Proc proc, OpenProc());
  return ReadBootId(proc);
}

absl::StatusOr<Identity> IdentifyProcess(pid_t pid) {
  ABSL_ASSIGN_OR_RETURN(Proc proc, OpenProc());
  ABSL_ASSIGN_OR_RETURN(Found found, FindByPid(proc, pid));
  ABSL_ASSIGN_OR_RETURN(found.identity.boot_id, ReadBootId(proc));
  return std::move(found.identity);
}

absl::StatusOr<Identity> IdentifySelf() { return IdentifyProcess(getpid()); }

struct IdentityChecker::Here {
  const absl::StatusOr<Surroundings> around = LookAround();
};

IdentityChecker::IdentityChecker() : here_(std::make_unique<const Here>()) {}
IdentityChecker::~IdentityChecker() = default;

Liveness IdentityChecker::Check(const Identity& identity) const {
  const absl::StatusOr<Found> found = FindByIdentity(here_->around, identity);
  if (found.ok()) return Liveness::kAlive;
  return absl::IsNotFound(found.status()) ? Liveness::kDead : Liveness::kUnknown;
}

bool IdentityChecker::IsAwake(const Identity& identity) const {
  if (!CheckPlace(here_->around, identity).ok()) return false;
  const absl::StatusOr<std::string> text =
      ReadProc(here_->around->proc, absl::StrCat(identity.pid, "/stat"));
  // All of one reading is of one process.
  const std::optional<ProcStat> stat = text.ok() ? ParseProcStat(*text) : std::nullopt;
  return stat.has_value() && stat->start_time == identity.start_time &&
         (stat->state == 'S' || stat->state == 'R');
}

Liveness CheckIdentity(const Identity& identity) { return IdentityChecker().Check(identity); }

absl::StatusOr<UniqueFd> OpenProcess(const Identity& identity) {
  ABSL_ASSIGN_OR_RETURN(Found found, FindByIdentity(LookAround(), identity));
  if (!found.pidfd.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("pidfd_open of process ", identity.pid, ": not possible here"));
  }
  return std::move(found.pidfd);
}

}  // namespace berth
