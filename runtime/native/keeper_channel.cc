#include "runtime/native/keeper_channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

// What the keeper said went wrong, with the code that fits.
absl::Status KeeperError(const launcher::Message& message, absl::string_view program,
                         absl::string_view cwd) {
  launcher::Reader in = message.reader();
  const int error = in.Get<int32_t>();
  const launcher::Step step = in.Get<launcher::Step>();
  const std::string detail = in.GetString();
  if (!in.done()) return absl::InternalError("the session's keeper gave a malformed answer");
  // Of a step of the sandbox's the detail is the path that it was about.
  if (detail.empty() || step >= launcher::Step::kPlan)
    return launcher::StartError(step, error, program, cwd, detail);
  switch (error) {
    case EINVAL:
      return absl::InvalidArgumentError(detail);
    case ENOTSUP:
      return absl::FailedPreconditionError(detail);
    case EPIPE:
      return absl::FailedPreconditionError(detail);
    case ESRCH:
      return absl::FailedPreconditionError(detail);
    case ENOBUFS:
      return absl::ResourceExhaustedError(detail);
    case ETIMEDOUT:
      return absl::DeadlineExceededError(detail);
    case EAGAIN:
      return absl::UnavailableError(detail);
    default:
      return ErrnoStatus(error, detail);
  }
}

// The next message, whatever it says.
absl::StatusOr<launcher::Message> Hear(int socket, absl::Time deadline) {
  const absl::Status waited = WaitFd(socket, POLLIN, deadline, "wait for the session's keeper");
  if (absl::IsDeadlineExceeded(waited)) {
    return absl::UnavailableError("the session's keeper does not answer");
  }
  ABSL_RETURN_IF_ERROR(waited);
  launcher::Message message;
  if (const int error = launcher::ReceiveMessage(socket, &message); error == EPIPE) {
    return absl::UnavailableError("the session's keeper went away");
  } else if (error != 0) {
    return ErrnoStatus(error, "hear from the session's keeper");
  }
  return message;
}

absl::Status Judge(const launcher::Message& message, absl::string_view program,
                   absl::string_view cwd) {
  if (message.type == launcher::kFailed) return KeeperError(message, program, cwd);
  if (message.type == launcher::kOk) return absl::OkStatus();
  return absl::InternalError("the session's keeper gave a malformed answer");
}

}  // namespace

absl::StatusOr<UniqueFd> KeeperChannel::Connect(absl::Time deadline) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int n = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", run_fd_,
                         uid_.c_str());
  if (n < 0 || static_cast<size_t>(n) >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("the session's id is too long for a socket");
  }
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return ErrnoStatus(errno, "make a socket");
  // connect waits, for ever if need be, while the queue of a keeper that does not accept is full.
  const absl::Duration left =
      std::clamp(deadline - absl::Now(), absl::Milliseconds(1), absl::Hours(24));
  const timeval limit = absl::ToTimeval(left);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  while (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == EINTR) continue;
    if (errno == ENOENT || errno == ECONNREFUSED)
      return absl::NotFoundError("the session has no keeper");
    if (errno == EAGAIN) return absl::UnavailableError("the session's keeper does not answer");
    return ErrnoStatus(errno, "connect to the session's keeper");
  }
  return socket;
}

absl::Status KeeperChannel::Send(int socket, uint16_t type, absl::string_view body, const int* fds,
                                 int fd_count) {
  const int error = launcher::SendMessage(socket, type, body, fds, fd_count);
  if (error == EPIPE || error == ECONNRESET)
    return absl::UnavailableError("the session's keeper is gone");
  if (error == EMSGSIZE) return absl::ResourceExhaustedError("a request may have 72 MiB at most");
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "ask the session's keeper");
}

absl::StatusOr<launcher::Message> KeeperChannel::Receive(int socket, absl::Time deadline,
                                                         absl::string_view program,
                                                         absl::string_view cwd) {
  ABSL_ASSIGN_OR_RETURN(launcher::Message message, Hear(socket, deadline));
  ABSL_RETURN_IF_ERROR(Judge(message, program, cwd));
  return message;
}

absl::StatusOr<UniqueFd> KeeperChannel::Ask(uint16_t type, absl::string_view body, int fd,
                                            absl::Time deadline) const {
  const int fds = fd >= 0 ? 1 : 0;
  if (idle_ != nullptr) {
    UniqueFd socket = idle_->Take(uid_);
    const absl::Status sent = socket.ok() ? Send(socket.get(), type, body, &fd, fds)
                                          : absl::UnavailableError("there is none");
    if (sent.ok()) return socket;
    if (!absl::IsUnavailable(sent)) return sent;
  }
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, Connect(deadline));
  ABSL_RETURN_IF_ERROR(Send(socket.get(), type, body, &fd, fds));
  return socket;
}

void KeeperChannel::CloseIdle() const {
  while (idle_ != nullptr && idle_->Take(uid_).ok()) {
  }
}

absl::StatusOr<launcher::Message> KeeperChannel::Answer(UniqueFd socket,
                                                        absl::Time deadline) const {
  absl::StatusOr<launcher::Message> message = Hear(socket.get(), deadline);
  if (!message.ok()) {
    // Not only closed: a child that the host has forked may hold it too.
    shutdown(socket.get(), SHUT_RDWR);
    return message;
  }
  if (idle_ != nullptr) idle_->Give(uid_, std::move(socket));
  ABSL_RETURN_IF_ERROR(Judge(*message, "", ""));
  return message;
}

absl::StatusOr<launcher::Message> KeeperChannel::Call(uint16_t type, absl::string_view body, int fd,
                                                      absl::Time deadline) const {
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, Ask(type, body, fd, deadline));
  return Answer(std::move(socket), deadline);
}

uint32_t WireMilliseconds(absl::Duration duration) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, 1u << 31));
}

absl::Status MalformedAnswer() {
  return absl::InternalError("the session's keeper gave a malformed answer");
}

}  // namespace berth
