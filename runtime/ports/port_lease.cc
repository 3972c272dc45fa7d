#include "runtime/ports/port_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/ports/bind.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr int kAttempts = 1000;

absl::StatusOr<UniqueFd> OpenLeaseDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("make lease directory '", path, "'"));
  }
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open lease directory '", path, "'"));
  struct stat st;
  if (fstat(fd.get(), &st) != 0)
    return ErrnoStatus(errno, absl::StrCat("look at lease directory '", path, "'"));
  if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("lease directory '", path, "' is not of this user alone (mode 0700)"));
  }
  return fd;
}

// The locked file of `port`; AlreadyExists if someone else has it locked.
absl::StatusOr<UniqueFd> LockFile(int directory, uint16_t port) {
  const std::string name = absl::StrCat(port);
  while (true) {
    UniqueFd fd(openat(directory, name.c_str(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open lease of port ", port));
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES) {
        return absl::AlreadyExistsError(
            absl::StrCat("lease port ", port, ": another process has the lease"));
      }
      return ErrnoStatus(errno, absl::StrCat("lock lease of port ", port));
    }
    // Between open and lock its owner may have released it, which removes the file.
    struct stat ours, named;
    if (fstat(fd.get(), &ours) != 0)
      return ErrnoStatus(errno, absl::StrCat("look at lease of port ", port));
    if (fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) {
      return fd;
    }
  }
}

}  // namespace

PortLease::PortLease(PortLease&& other) noexcept = default;

PortLease& PortLease::operator=(PortLease&& other) noexcept {
  if (this != &other) {
    Release().IgnoreError();
    port_ = other.port_;
    directory_ = std::move(other.directory_);
    lock_ = std::move(other.lock_);
    socket4_ = std::move(other.socket4_);
    socket6_ = std::move(other.socket6_);
  }
  return *this;
}

PortLease::~PortLease() { Release().IgnoreError(); }

// The lock first, the sockets second: a port that is leased, but bound by nobody yet, is never
// touched by others.
absl::StatusOr<PortLease> PortLease::Take(int directory, uint16_t port) {
  absl::StatusOr<UniqueFd> lock = LockFile(directory, port);
  if (!lock.ok()) return lock.status();
  PortLease lease;
  lease.port_ = port;
  lease.lock_ = *std::move(lock);
  lease.directory_.reset(fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!lease.directory_.ok()) return ErrnoStatus(errno, "duplicate descriptor of lease directory");
  int error = BindTcp(BindAddress::kLoopback4, port, &lease.socket4_);
  if (error == 0) {
    error = BindTcp(BindAddress::kLoopback6, port, &lease.socket6_);
    if (NoIpv6(error)) error = 0;
  }
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(absl::StrCat("bind port ", port, ": another program has it"));
  }
  if (error != 0) return ErrnoStatus(error, absl::StrCat("bind port ", port));
  return lease;
}

absl::StatusOr<PortLease> PortLease::Acquire(absl::string_view lease_dir, uint16_t preferred) {
  absl::StatusOr<UniqueFd> directory = OpenLeaseDirectory(std::string(lease_dir));
  if (!directory.ok()) return directory.status();
  if (preferred != 0) return Take(directory->get(), preferred);
  PortChoice choice;
  for (int i = 0; i < kAttempts; ++i) {
    absl::StatusOr<PortLease> lease = Take(directory->get(), choice.Next());
    if (lease.ok() || !absl::IsAlreadyExists(lease.status())) return lease;
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("lease a port: none free in ", kAttempts, " attempts"));
}

UniqueFd PortLease::HandOver() { return std::move(socket4_); }

void PortLease::ReleaseSocket() {
  socket4_.reset();
  socket6_.reset();
}

absl::Status PortLease::Release() {
  ReleaseSocket();
  if (!lock_.ok()) return absl::OkStatus();
  // Removed while it is locked, so that what is removed is ours.
  const int result = unlinkat(directory_.get(), absl::StrCat(port_).c_str(), 0);
  const int error = errno;
  lock_.reset();
  directory_.reset();
  if (result != 0 && error != ENOENT)
    return ErrnoStatus(error, absl::StrCat("remove lease of port ", port_));
  return absl::OkStatus();
}

}  // namespace berth
