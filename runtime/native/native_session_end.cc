// The part of NativeSession that ends sessions and waits for their end.

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/native/native_session.h"
#include "runtime/native/remains.h"
#include "runtime/native/session_info.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

using launcher::Reader;
using launcher::Writer;

}  // namespace

absl::Status NativeSession::Signal(int signal) {
  Writer out;
  out.Put(int32_t{signal});
  return Call(launcher::kSignal, out.body()).status();
}

absl::StatusOr<ExitStatus> NativeSession::Stop(absl::Duration grace) {
  Writer out;
  out.Put(WireMilliseconds(grace));
  absl::StatusOr<launcher::Message> answer =
      channel_.Call(launcher::kStop, out.body(), -1, absl::Now() + grace + absl::Seconds(60));
  if (absl::IsNotFound(answer.status())) return EndWithoutKeeper();
  if (!answer.ok()) return OrGone(answer.status());
  Reader in = answer->reader();
  const ExitStatus status = ReadEnd(&in);
  if (!in.done()) return MalformedAnswer();
  return status;
}

absl::StatusOr<UniqueFd> NativeSession::AskForEnd(absl::Time deadline) const {
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, channel_.Connect(deadline));
  ABSL_RETURN_IF_ERROR(KeeperChannel::Send(socket.get(), launcher::kWait, "", nullptr, 0));
  return socket;
}

absl::StatusOr<ExitStatus> NativeSession::Wait(absl::Time deadline) {
  absl::StatusOr<UniqueFd> socket = AskForEnd(deadline);
  if (absl::IsNotFound(socket.status())) return EndWithoutKeeper();
  if (!socket.ok()) return OrGone(socket.status());
  const absl::Status waited = WaitFd(socket->get(), POLLIN, deadline, "wait for the session");
  if (absl::IsDeadlineExceeded(waited)) {
    // A deadline that is now or in the past gives the keeper no time to answer. Asked for its
    // state, which it tells at once, it says whether the session has ended.
    const absl::StatusOr<SessionInfo> info = AskInfo(absl::Now() + absl::Milliseconds(50));
    if (info.ok() && info->state == SessionState::kExited) return info->exit;
  }
  ABSL_RETURN_IF_ERROR(waited);
  absl::StatusOr<launcher::Message> answer = KeeperChannel::Receive(socket->get(), absl::Now());
  if (!answer.ok()) {
    // The keeper went away while we waited: destroyed, or killed.
    const absl::StatusOr<ExitStatus> end = EndWithoutKeeper();
    return end.ok() || absl::IsNotFound(end.status()) ? end
                                                      : absl::StatusOr<ExitStatus>(answer.status());
  }
  Reader in = answer->reader();
  const ExitStatus status = ReadEnd(&in);
  if (!in.done()) return MalformedAnswer();
  return status;
}

absl::StatusOr<UniqueFd> NativeSession::ExitFd() {
  absl::StatusOr<UniqueFd> socket = AskForEnd(absl::Now() + absl::Seconds(20));
  if (socket.ok()) return socket;
  if (!absl::IsNotFound(socket.status())) return OrGone(socket.status());
  // Ended, and nobody is there to tell: a socket whose other end is closed is readable for ever.
  ABSL_RETURN_IF_ERROR(EndWithoutKeeper().status());
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return ErrnoStatus(errno, "make a socket");
  const UniqueFd closed(fds[1]);
  return UniqueFd(fds[0]);
}

absl::Status NativeSession::Destroy(absl::Duration grace) {
  channel_.CloseIdle();
  Writer out;
  out.Put(WireMilliseconds(grace));
  const absl::Time deadline = absl::Now() + grace + absl::Seconds(60);
  absl::StatusOr<UniqueFd> socket = channel_.Connect(deadline);
  if (socket.ok()) {
    absl::Status asked =
        KeeperChannel::Send(socket->get(), launcher::kDestroy, out.body(), nullptr, 0);
    if (asked.ok()) {
      asked = KeeperChannel::Receive(socket->get(), deadline).status();
      // Then the keeper removes everything and goes; its end of the connection closes with it.
      if (asked.ok())
        return WaitFd(socket->get(), POLLRDHUP, deadline, "wait for the session's keeper to go");
    }
    if (WaitFd(socket->get(), POLLRDHUP, absl::InfinitePast(), "").ok() == false) return asked;
  } else if (!absl::IsNotFound(socket.status())) {
    return socket.status();
  }
  // No keeper (any more). What it may have left is removed by its record; nothing left is fine.
  absl::StatusOr<Record> record = store_->Read(uid_);
  // Without a record its keeper may still be at work on the rest.
  if (absl::IsNotFound(record.status())) return store_->Remove(uid_);
  ABSL_RETURN_IF_ERROR(record.status());
  return RemoveRemains(*store_, *record);
}

}  // namespace berth
