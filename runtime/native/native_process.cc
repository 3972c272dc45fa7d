#include "runtime/native/native_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/native_violations.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/end_group.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"
#include "sandbox/launcher/pty.h"
#include "sandbox/launcher/usage.h"

namespace berth {
namespace {

constexpr int kPipeSize = 1 << 20;

absl::StatusOr<UniqueFd> Duplicate(int fd, absl::string_view what) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy.ok()) return ErrnoStatus(errno, what);
  return copy;
}

}  // namespace

ExitStatus ToExitStatus(const launcher::ExitNotice& notice) {
  ExitStatus status;
  status.code = notice.code;
  status.signal = notice.signal;
  if (notice.reason != 0) {
    status.reason = static_cast<EndReason>(notice.reason);
  } else if (notice.stopped != 0) {
    status.reason = EndReason::kStopped;
  } else {
    status.reason = notice.signal != 0 ? EndReason::kSignaled : EndReason::kExited;
  }
  return status;
}

absl::StatusOr<ProcessStreams> ProcessStreams::Make(const ProcessSpec& spec) {
  ProcessStreams streams;
  if (spec.pty) {
    launcher::Pty pty;
    if (const int error = launcher::OpenPty(spec.size.rows, spec.size.cols, &pty)) {
      return ErrnoStatus(error, "open a terminal");
    }
    // Reads and writes wait, as a pipe's do.
    fcntl(pty.master.get(), F_SETFL, fcntl(pty.master.get(), F_GETFL) & ~O_NONBLOCK);
    streams.made[0] = std::move(pty.slave);
    for (int& fd : streams.theirs) fd = streams.made[0].get();
    ABSL_ASSIGN_OR_RETURN(streams.stdin_, Duplicate(pty.master.get(), "duplicate the terminal"));
    streams.stdout_ = std::move(pty.master);
    return streams;
  }
  const Stdio wanted[3] = {spec.stdin_, spec.stdout_, spec.stderr_};
  UniqueFd* const ours[3] = {&streams.stdin_, &streams.stdout_, &streams.stderr_};
  for (int i = 0; i < 3; ++i) {
    switch (wanted[i].kind()) {
      case Stdio::Kind::kNull:
        break;
      case Stdio::Kind::kFd:
        // Checked here, where the caller's number can be named; the send would only say that one of
        // them is bad.
        if (fcntl(wanted[i].fd(), F_GETFD) < 0) {
          return absl::InvalidArgumentError(
              absl::StrCat("descriptor ", wanted[i].fd(), " for stream ", i, " is not open"));
        }
        streams.theirs[i] = wanted[i].fd();
        break;
      case Stdio::Kind::kPipe: {
        int fds[2];
        if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
        streams.made[i] = UniqueFd(fds[i == 0 ? 0 : 1]);
        streams.theirs[i] = streams.made[i].get();
        *ours[i] = UniqueFd(fds[i == 0 ? 1 : 0]);
        // Where much flows it pays, and all pipes of a user share one allowance: past that this
        // fails, and the pipe holds less.
        if (i == 1) fcntl(fds[0], F_SETPIPE_SZ, kPipeSize);
        break;
      }
    }
  }
  return streams;
}

NativeProcess::NativeProcess(launcher::Spawned spawned, ProcessStreams streams, bool pty,
                             Stopper stopper, Asker violations)
    : spawned_(std::move(spawned)),
      pty_(pty),
      stopper_(std::move(stopper)),
      violations_(std::move(violations)),
      streams_(std::move(streams)) {
  for (UniqueFd& fd : streams_.made) fd.reset();
  if (pty_) terminal_ = UniqueFd(fcntl(streams_.stdout_.get(), F_DUPFD_CLOEXEC, 3));
}

NativeProcess::~NativeProcess() { Stop(absl::ZeroDuration()).IgnoreError(); }

StartTiming NativeProcess::timing() const {
  const auto at = [](uint64_t ns) { return absl::Nanoseconds(static_cast<int64_t>(ns)); };
  return {at(spawned_.requested_ns), at(spawned_.received_ns), at(spawned_.started_ns),
          at(spawned_.replied_ns)};
}

absl::StatusOr<UniqueFd> NativeProcess::Take(UniqueFd ProcessStreams::* stream, const char* name) {
  absl::MutexLock lock(mutex_);
  UniqueFd& fd = streams_.*stream;
  if (!fd.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " is not a pipe of this process, or was taken already"));
  }
  return std::move(fd);
}

absl::StatusOr<UniqueFd> NativeProcess::TakeStdin() {
  return Take(&ProcessStreams::stdin_, "stdin");
}
absl::StatusOr<UniqueFd> NativeProcess::TakeStdout() {
  return Take(&ProcessStreams::stdout_, "stdout");
}
absl::StatusOr<UniqueFd> NativeProcess::TakeStderr() {
  return Take(&ProcessStreams::stderr_, "stderr");
}

absl::Status NativeProcess::Resize(TerminalSize size) {
  if (!pty_) return absl::FailedPreconditionError("this process has pipes and no terminal");
  const int error = launcher::ResizePty(terminal_.get(), size.rows, size.cols);
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "resize the terminal");
}

absl::Status NativeProcess::Signal(int signal) {
  if (launcher::PidfdSignal(spawned_.pidfd.get(), signal) == 0) {
    if (signal > 0) signals_sent_ |= uint64_t{1} << (signal - 1);
    return absl::OkStatus();
  }
  if (errno == ESRCH) return absl::FailedPreconditionError("the process has ended");
  return ErrnoStatus(errno, absl::StrCat("send signal ", signal));
}

absl::StatusOr<ExitStatus> NativeProcess::Wait(absl::Time deadline) {
  ABSL_RETURN_IF_ERROR(
      WaitFd(spawned_.exit_socket.get(), POLLIN, deadline, "wait for the process"));
  launcher::ExitNotice notice;
  // Peeked at: it stays there for the next caller.
  const ssize_t n =
      recv(spawned_.exit_socket.get(), &notice, sizeof(notice), MSG_PEEK | MSG_DONTWAIT);
  if (n == ssize_t{sizeof(notice)}) {
    if (notice.signal != 0 && (signals_sent_ >> (notice.signal - 1) & 1) != 0) notice.stopped = 1;
    return ToExitStatus(notice);
  }
  return ExitStatus{};  // whoever could have told is gone, and the process with it
}

absl::StatusOr<UniqueFd> NativeProcess::ExitFd() {
  return Duplicate(spawned_.exit_socket.get(), "duplicate the exit descriptor");
}

absl::StatusOr<ExitStatus> NativeProcess::Stop(absl::Duration grace) {
  // Not asked for if the tree is gone; the socket tells both.
  if (!WaitFd(spawned_.exit_socket.get(), POLLRDHUP, absl::InfinitePast(), "").ok()) {
    stopper_(grace).IgnoreError();
    ABSL_RETURN_IF_ERROR(WaitFd(spawned_.exit_socket.get(), POLLRDHUP,
                                absl::Now() + grace + absl::Seconds(60),
                                "wait until all processes are gone"));
  }
  // No word of its end: whoever held the tree was killed, and only the main process is sure to have
  // died with it.
  char byte;
  if (!spawned_.cgroup.empty() &&
      recv(spawned_.exit_socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
    ABSL_RETURN_IF_ERROR(launcher::EndGroup(spawned_.cgroup));
  }
  return Wait(absl::Now());
}

absl::StatusOr<std::vector<Violation>> NativeProcess::Violations() {
  if (violations_ == nullptr) return std::vector<Violation>();
  // Both messages are there (protocol.h): it ended, and there are none.
  int waiting = 0;
  if (ioctl(spawned_.exit_socket.get(), FIONREAD, &waiting) == 0 &&
      waiting == sizeof(launcher::ExitNotice) + sizeof(launcher::kNothingStopped)) {
    return std::vector<Violation>();
  }
  ABSL_ASSIGN_OR_RETURN(const std::string told, violations_());
  return ReadViolations(told);
}

absl::StatusOr<Stats> NativeProcess::GetStats() {
  // Those whose parents are gone are not below the main process any more: they are in its group, or
  // below the supervisor that is its parent.
  std::vector<pid_t> pids;
  launcher::ProcStat main;
  const launcher::Cgroup group = launcher::Cgroup::Open(spawned_.cgroup);
  if (group.ok()) {
    pids = group.Processes();
  } else if (launcher::ReadProcStat(pid(), &main)) {
    pids = launcher::Descendants(main.parent);
  }
  // The number may be another's by now, but not if the process has not ended after all that.
  if (WaitFd(spawned_.pidfd.get(), POLLIN, absl::InfinitePast(), "").ok()) pids.clear();
  const launcher::Usage usage = launcher::UsageOf(pids);
  if (usage.processes == 0) return absl::FailedPreconditionError("the process has ended");
  return Stats{absl::Nanoseconds(static_cast<int64_t>(usage.cpu_ns)),
               usage.rss_bytes,
               usage.processes,
               usage.read_bytes,
               usage.write_bytes,
               "proc"};
}

}  // namespace berth
