#include "runtime/native/native_session.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/changes/changes.h"
#include "runtime/env.h"
#include "runtime/native/keeper_channel.h"
#include "runtime/native/native_process.h"
#include "runtime/native/native_violations.h"
#include "runtime/native/remains.h"
#include "runtime/native/session_info.h"
#include "runtime/record/identity.h"
#include "runtime/start_request.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth {
namespace {

using launcher::Reader;
using launcher::Writer;

}  // namespace

NativeSession::NativeSession(std::shared_ptr<const Store> store,
                             std::shared_ptr<IdleConnections> idle, Record record)
    : store_(std::move(store)),
      handle_(NativeHandle(record)),
      channel_(store_->dir().run_fd(), record.uid, std::move(idle)),
      record_(record),
      uid_(record.uid) {}

std::string NativeSession::name() const {
  absl::MutexLock lock(mutex_);
  return record_.name;
}

absl::StatusOr<launcher::Message> NativeSession::Call(uint16_t type, absl::string_view body, int fd,
                                                      absl::Duration limit) const {
  const absl::Time deadline = absl::Now() + limit;
  // Not KeeperChannel::Call: the keeper's answer may be NotFound too.
  absl::StatusOr<UniqueFd> socket = channel_.Ask(type, body, fd, deadline);
  if (socket.ok()) {
    absl::StatusOr<launcher::Message> answer = channel_.Answer(*std::move(socket), deadline);
    if (!answer.ok()) return OrGone(answer.status());
    return answer;
  }
  if (!absl::IsNotFound(socket.status())) return OrGone(socket.status());
  // No keeper: either there is no such session any more, or something took its keeper away.
  ABSL_ASSIGN_OR_RETURN(const ExitStatus end, EndWithoutKeeper());
  return absl::FailedPreconditionError(absl::StrCat("the session has ended (", Describe(end), ")"));
}

absl::Status NativeSession::OrGone(absl::Status status) const {
  if (!absl::IsUnavailable(status)) return status;
  const absl::Status end = EndWithoutKeeper().status();
  return absl::IsNotFound(end) ? end : status;
}

absl::StatusOr<ExitStatus> NativeSession::EndWithoutKeeper() const {
  absl::StatusOr<Record> record = store_->Read(uid_);
  if (absl::IsNotFound(record.status())) {
    return absl::NotFoundError(absl::StrCat("there is no session ", handle_, " (any more)"));
  }
  ABSL_RETURN_IF_ERROR(record.status());
  return EndOfRemains(*store_, *record);
}

absl::StatusOr<SessionInfo> NativeSession::Info() {
  return AskInfo(absl::Now() + absl::Seconds(5));
}

absl::StatusOr<SessionInfo> NativeSession::AskInfo(absl::Time deadline) const {
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  if (record.state == kStateStarting) return MakeInfo(*store_, record, absl::NotFoundError(""));
  return MakeInfo(*store_, record, channel_.Call(launcher::kInfo, "", -1, deadline));
}

LivenessReport NativeSession::CheckLiveness() {
  const absl::StatusOr<SessionInfo> info = Info();
  if (!info.ok()) {
    return {absl::IsNotFound(info.status()) ? Liveness::kDead : Liveness::kUnknown,
            std::string(info.status().message())};
  }
  switch (info->state) {
    case SessionState::kRunning:
      return {Liveness::kAlive, "its main process runs"};
    case SessionState::kExited:
      return {Liveness::kDead, Describe(info->exit)};
    case SessionState::kStarting:
      return {Liveness::kUnknown, "it is being started"};
    case SessionState::kUnknown:
      break;
  }
  return {Liveness::kUnknown, "its keeper does not answer"};
}

absl::StatusOr<Delivery> NativeSession::Send(const Message& message, absl::Time deadline) {
  Writer out;
  out.Put(message.text).Put(message.submit).Put(message.paste).Put(message.await);
  const absl::Duration limit = std::min(deadline - absl::Now(), absl::Hours(24));
  out.Put(WireMilliseconds(limit));
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer,
                        Call(launcher::kSend, out.body(), -1,
                             std::max(limit, absl::ZeroDuration()) + absl::Seconds(10)));
  Reader in = answer.reader();
  const Delivery delivery = in.Get<Delivery>();
  if (!in.done()) return MalformedAnswer();
  return delivery;
}

absl::Status NativeSession::SendKeys(const std::vector<std::string>& keys) {
  Writer out;
  out.PutList(keys);
  return Call(launcher::kKeys, out.body()).status();
}

absl::StatusOr<std::string> NativeSession::Capture(const CaptureOptions& options) {
  Writer out;
  out.Put(int32_t{options.lines}).Put(options.colour);
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer, Call(launcher::kCapture, out.body()));
  Reader in = answer.reader();
  const absl::string_view text = in.GetBytes();
  if (!in.done()) return MalformedAnswer();
  return std::string(text);
}

absl::StatusOr<Output> NativeSession::OpenOutput(const OutputOptions& options) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
  Output output;
  output.fd = UniqueFd(fds[0]);
  const UniqueFd theirs(fds[1]);
  fcntl(fds[0], F_SETPIPE_SZ, 1 << 20);
  Writer out;
  out.Put(options.stream).Put(options.from).Put(options.buffer_bytes);
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer,
                        Call(launcher::kOutput, out.body(), theirs.get()));
  Reader in = answer.reader();
  output.begins = in.Get<int64_t>();
  if (!in.done()) return MalformedAnswer();
  return output;
}

absl::Status NativeSession::CloseStdin() { return Call(launcher::kCloseStdin, "").status(); }

absl::Status NativeSession::Resize(TerminalSize size) {
  Writer out;
  out.Put(size.rows).Put(size.cols);
  return Call(launcher::kResize, out.body()).status();
}

absl::StatusOr<UniqueFd> NativeSession::Attach() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return ErrnoStatus(errno, "make a socket");
  UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  ABSL_RETURN_IF_ERROR(Call(launcher::kAttach, "", theirs.get()).status());
  return ours;
}

std::vector<std::string> NativeSession::AttachCommand() const {
  return {"berth", "attach", name()};
}

absl::Status NativeSession::SetLog(absl::string_view path, int64_t cap_bytes) {
  if (!path.empty() && path[0] != '/')
    return absl::InvalidArgumentError("the log's path is not absolute");
  if (absl::StrContains(path, '\0'))
    return absl::InvalidArgumentError("the log's path has a NUL byte");
  Writer out;
  out.Put(path).Put(cap_bytes);
  return Call(launcher::kSetLog, out.body()).status();
}

absl::Status NativeSession::SetEnvironment(absl::string_view key, absl::string_view value) {
  Env env = Env::Clean();
  env.Set(key, value);
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> entries, env.Resolve(nullptr));
  Writer out;
  out.Put(absl::string_view(entries[0]));
  return Call(launcher::kSetEnv, out.body()).status();
}

absl::StatusOr<std::unique_ptr<Process>> NativeSession::Exec(const ProcessSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  // Only what the caller set: the rest is the session's own.
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> env, spec.env.Resolve(nullptr));
  std::string cwd = spec.cwd;
  if (!cwd.empty()) {
    ABSL_ASSIGN_OR_RETURN(cwd, ResolveCwd(spec.cwd));
  }
  ABSL_ASSIGN_OR_RETURN(ProcessStreams streams, ProcessStreams::Make(spec));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "make the exit socket");
  }
  launcher::Spawned spawned;
  spawned.exit_socket = UniqueFd(pair[0]);
  UniqueFd theirs(pair[1]);
  uint8_t flags = spec.pty ? launcher::kTerminal : 0;
  int fds[4];
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    if (streams.theirs[i] < 0) continue;
    flags |= launcher::kHasStdio[i];
    fds[count++] = streams.theirs[i];
  }
  fds[count++] = theirs.get();
  Writer out;
  out.Put(flags).Put(cwd).PutList(spec.command.argv()).PutList(env);
  ABSL_ASSIGN_OR_RETURN(const UniqueFd socket, channel_.Connect(absl::Now() + absl::Seconds(20)));
  ABSL_RETURN_IF_ERROR(KeeperChannel::Send(socket.get(), launcher::kExec, out.body(), fds, count));
  theirs.reset();
  ABSL_ASSIGN_OR_RETURN(launcher::Message answer,
                        KeeperChannel::Receive(socket.get(), absl::Now() + absl::Seconds(60),
                                               spec.command.argv()[0], cwd));
  Reader in = answer.reader();
  spawned.pid = in.Get<int32_t>();
  spawned.cgroup = in.GetString();
  spawned.pidfd = answer.TakeFd(0);
  if (!in.done() || !spawned.pidfd.ok()) return MalformedAnswer();
  const pid_t pid = spawned.pid;
  // The process may be used after this object: it knows its keeper by itself.
  auto stopper = [store = store_, uid = uid_, pid](absl::Duration grace) {
    Writer stop;
    stop.Put(int32_t{pid}).Put(WireMilliseconds(grace));
    return KeeperChannel(store->dir().run_fd(), uid)
        .Call(launcher::kStopExec, stop.body(), -1, absl::Now() + absl::Seconds(20))
        .status();
  };
  return std::make_unique<NativeProcess>(std::move(spawned), std::move(streams), spec.pty,
                                         std::move(stopper));
}

absl::StatusOr<Stats> NativeSession::GetStats() {
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer, Call(launcher::kStats, ""));
  Reader in = answer.reader();
  Stats stats;
  stats.cpu = absl::Nanoseconds(static_cast<int64_t>(in.Get<uint64_t>()));
  stats.memory_bytes = in.Get<int64_t>();
  stats.processes = in.Get<int64_t>();
  stats.read_bytes = in.Get<int64_t>();
  stats.write_bytes = in.Get<int64_t>();
  stats.source = in.GetString();
  if (!in.done()) return MalformedAnswer();
  return stats;
}

absl::StatusOr<std::vector<Violation>> NativeSession::Violations() {
  Writer out;
  out.Put(uint64_t{0});
  ABSL_ASSIGN_OR_RETURN(const launcher::Message answer, Call(launcher::kViolations, out.body()));
  return ReadViolations(answer.body);
}

absl::StatusOr<std::unique_ptr<ViolationFeed>> NativeSession::WatchViolations(int64_t seen) {
  {
    absl::MutexLock lock(mutex_);
    if (record_.tier.empty()) return Session::WatchViolations(seen);
  }
  return FeedOfKeeper(channel_, seen);
}

absl::StatusOr<std::vector<Change>> NativeSession::Changes() {
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, store_->OpenSessionDir(uid_));
  return ListChanges(folder.get(), record.copy_on_write);
}

absl::Status NativeSession::CheckSettled() {
  ABSL_ASSIGN_OR_RETURN(const SessionInfo info, Info());
  if (info.state == SessionState::kExited) return Stop(absl::ZeroDuration()).status();
  return absl::FailedPreconditionError(
      absl::StrCat("session ", info.name, " is ", SessionStateName(info.state),
                   ": its changes can be kept or discarded once it has ended"));
}

absl::Status NativeSession::KeepChanges(const std::vector<std::string>& paths) {
  ABSL_RETURN_IF_ERROR(CheckSettled());
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, store_->OpenSessionDir(uid_));
  return berth::KeepChanges(folder.get(), record.copy_on_write, paths);
}

absl::Status NativeSession::DiscardChanges() {
  ABSL_RETURN_IF_ERROR(CheckSettled());
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd folder, store_->OpenSessionDir(uid_));
  return berth::DiscardChanges(folder.get(), record.copy_on_write);
}

absl::Status NativeSession::Rename(absl::string_view new_name) {
  ABSL_RETURN_IF_ERROR(store_->Rename(uid_, std::string(new_name)));
  {
    absl::MutexLock lock(mutex_);
    record_.name = new_name;
  }
  Writer out;
  out.Put(new_name);
  // The record counts; a keeper that does not hear it finds at its end that the name is not its any
  // more.
  Call(launcher::kRename, out.body()).IgnoreError();
  return absl::OkStatus();
}

}  // namespace berth
