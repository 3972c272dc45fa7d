#include "sandbox/launcher/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/launcher/end_group.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/start_helper.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {
namespace {

// Longer than any start on a machine that works; a launcher that does not answer by then is not
// waited for.
constexpr absl::Duration kAnswer = absl::Seconds(60);

absl::Status Receive(int socket, uint16_t type, Message* message) {
  ABSL_RETURN_IF_ERROR(WaitFd(socket, POLLIN, absl::Now() + kAnswer, "wait for the launcher"));
  if (const int error = ReceiveMessage(socket, message); error == EPIPE) {
    return absl::UnavailableError("the launcher is gone");
  } else if (error != 0) {
    return ErrnoStatus(error, "receive from the launcher");
  }
  if (message->type != type)
    return absl::InternalError("the launcher gave an answer to something else");
  return absl::OkStatus();
}

absl::Status Send(int socket, uint16_t type, absl::string_view body, const int* fds, int count) {
  const int error = SendMessage(socket, type, body, fds, count);
  if (error == EPIPE || error == ECONNRESET) return absl::UnavailableError("the launcher is gone");
  if (error == EMSGSIZE)
    return absl::ResourceExhaustedError("arguments and environment are too large together");
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "send to the launcher");
}

}  // namespace

absl::Status StartError(Step step, int error, absl::string_view program, absl::string_view cwd,
                        absl::string_view path) {
  const auto sandbox = [&](absl::string_view what) {
    return ErrnoStatus(error, path.empty() ? absl::StrCat("sandbox: ", what)
                                           : absl::StrCat("sandbox: ", what, " '", path, "'"));
  };
  switch (step) {
    case Step::kExec:
      if (error == E2BIG) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "execute '", program, "': arguments and environment are too large for this system"));
      }
      if (error == ENOENT) {
        return absl::NotFoundError(
            absl::StrCat("execute '", program,
                         "': no such program (a script: also if its interpreter is missing)"));
      }
      if (error == ENOEXEC) {
        return absl::InvalidArgumentError(
            absl::StrCat("execute '", program,
                         "': not a program for this machine, nor a script that begins with #!"));
      }
      return ErrnoStatus(error, absl::StrCat("execute '", program, "'"));
    case Step::kDirectory:
      return ErrnoStatus(error, absl::StrCat("change to the working directory '", cwd, "'"));
    case Step::kTerminal:
      return ErrnoStatus(error, "open a terminal");
    case Step::kSession:
      return ErrnoStatus(error, "take the terminal");
    case Step::kSocket:
      return ErrnoStatus(error, "make the session's socket");
    case Step::kStdio:
      return ErrnoStatus(error, "connect the streams");
    case Step::kGate:
      return ErrnoStatus(error, "hold the program until its record is written");
    case Step::kClone:
      return ErrnoStatus(error, "make a process");
    case Step::kRequest:
      return ErrnoStatus(error, "ask the helper");
    case Step::kPlan:
      return sandbox("carry out the plan");
    case Step::kNamespaces:
      return sandbox("make the namespaces");
    case Step::kIdMap:
      return sandbox("map the user and the group");
    case Step::kNetwork:
      return sandbox("bring up the network");
    case Step::kRoot:
      return sandbox("make the new root");
    case Step::kSource:
      return sandbox("open");
    case Step::kTarget:
      return sandbox("make a place for");
    case Step::kMount:
      return sandbox("mount");
    case Step::kPivot:
      return sandbox("change to the new root");
    case Step::kHostname:
      return sandbox("set the host name");
    case Step::kLimits:
      return sandbox("set the limits");
    case Step::kCapabilities:
      return sandbox("give up capabilities");
    case Step::kLandlock:
      return sandbox("enforce the Landlock rule of");
    case Step::kFilter:
      return sandbox("load the system call filter");
    case Step::kReport:
      return sandbox("hand over the listener of the system call filter");
    case Step::kOverlay:
      return absl::FailedPreconditionError(absl::StrCat(
          "show '", path, "' copy-on-write: ", strerrordesc_np(error) ? strerrordesc_np(error) : "",
          ". Remedy: keep berth's state ($BERTH_STATE_DIR) on a file system that can be the upper "
          "layer of an overlay (ext4, xfs, btrfs, tmpfs; not another overlay, not NFS) and outside "
          "of that folder, on Linux 5.11 or newer"));
    case Step::kProc:
      return sandbox("mount /proc");
    case Step::kDev:
      return sandbox("make /dev");
    case Step::kRecord:
      return ErrnoStatus(error, "sync the session's record");
    case Step::kNone:
      break;
  }
  return ErrnoStatus(error, absl::StrCat("start '", program, "'"));
}

absl::StatusOr<std::unique_ptr<LauncherClient>> LauncherClient::Begin(const std::string& tag) {
  ABSL_ASSIGN_OR_RETURN(UniqueFd socket, StartHelper(tag));
  auto client = absl::WrapUnique(new LauncherClient);
  absl::MutexLock lock(client->mutex_);
  client->socket_ = std::move(socket);
  return client;
}

absl::StatusOr<std::unique_ptr<LauncherClient>> LauncherClient::Start(const std::string& tag) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LauncherClient> client, Begin(tag));
  absl::MutexLock lock(client->mutex_);
  ABSL_RETURN_IF_ERROR(client->Greet());
  return client;
}

absl::Status LauncherClient::Greet() {
  if (pid_ != 0) return absl::OkStatus();
  Message hello;
  ABSL_RETURN_IF_ERROR(Receive(socket_.get(), kHello, &hello));
  Reader in = hello.reader();
  cgroup_ = in.GetString();
  const pid_t pid = static_cast<pid_t>(in.Get<uint64_t>());
  if (!in.done()) return absl::InternalError("the launcher's greeting is malformed");
  pid_ = pid;
  return absl::OkStatus();
}

absl::Status LauncherClient::Ask(uint16_t type, absl::string_view body, const int* fds, int count,
                                 uint16_t answer_type, Message* answer) {
  ABSL_RETURN_IF_ERROR(Send(socket_.get(), type, body, fds, count));
  ABSL_RETURN_IF_ERROR(Greet());
  return Receive(socket_.get(), answer_type, answer);
}

LauncherClient::~LauncherClient() {
  absl::MutexLock lock(mutex_);
  // For the name of its group.
  Greet().IgnoreError();
  // No more requests; then wait until it has ended everything: its end of the socket closes.
  shutdown(socket_.get(), SHUT_WR);
  Message last;
  const bool removed = Receive(socket_.get(), kFarewell, &last).ok();
  WaitFd(socket_.get(), POLLRDHUP, absl::Now() + kAnswer, "wait for the launcher's end")
      .IgnoreError();
  // If it was killed instead, what was below its children is still in its group.
  if (!removed && !cgroup_.empty()) EndGroup(cgroup_).IgnoreError();
}

bool LauncherClient::gone() const {
  absl::MutexLock lock(mutex_);
  return WaitFd(socket_.get(), POLLRDHUP, absl::InfinitePast(), "").ok();
}

absl::StatusOr<LauncherClient::ExitPair> LauncherClient::MakeExitPair() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "make the exit socket");
  }
  return ExitPair{UniqueFd(pair[0]), UniqueFd(pair[1])};
}

absl::StatusOr<Spawned> LauncherClient::Spawn(const SpawnRequest& request) {
  uint8_t flags = request.terminal ? kTerminal : 0;
  int fds[4];
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    if (request.stdio[i] < 0) continue;
    flags |= kHasStdio[i];
    fds[count++] = request.stdio[i];
  }
  Writer out;
  out.Put(flags).Put(request.cwd).PutList(request.argv).PutList(request.env).Put(request.plan);

  Spawned spawned;
  Message answer;
  {
    absl::MutexLock lock(mutex_);
    started_ = true;
    ExitPair exit = std::move(next_exit_);
    if (!exit.ours.ok()) {
      ABSL_ASSIGN_OR_RETURN(exit, MakeExitPair());
    }
    fds[count++] = exit.theirs.get();
    spawned.requested_ns = NowNs();
    ABSL_RETURN_IF_ERROR(Send(socket_.get(), kSpawn, out.body(), fds, count));
    exit.theirs.reset();
    spawned.exit_socket = std::move(exit.ours);
    if (absl::StatusOr<ExitPair> next = MakeExitPair(); next.ok()) next_exit_ = *std::move(next);
    ABSL_RETURN_IF_ERROR(Greet());
  }
  ABSL_RETURN_IF_ERROR(Receive(spawned.exit_socket.get(), kSpawned, &answer));
  spawned.replied_ns = NowNs();
  Reader in = answer.reader();
  const Step step = in.Get<Step>();
  const int error = in.Get<int32_t>();
  spawned.pid = in.Get<int32_t>();
  spawned.received_ns = in.Get<uint64_t>();
  spawned.started_ns = in.Get<uint64_t>();
  spawned.cgroup = in.GetString();
  const absl::string_view path = in.GetString();
  spawned.prepared = in.Get<bool>();
  if (!in.done()) return absl::InternalError("the launcher's answer is malformed");
  if (step != Step::kNone) return StartError(step, error, request.argv[0], request.cwd, path);
  spawned.pidfd = answer.TakeFd(0);
  return spawned;
}

absl::StatusOr<int> LauncherClient::Prepare(absl::string_view plan) {
  Writer out;
  out.Put(plan);
  Message answer;
  absl::MutexLock lock(mutex_);
  ABSL_RETURN_IF_ERROR(Ask(kPrepare, out.body(), nullptr, 0, kPrepared, &answer));
  return static_cast<int>(answer.reader().Get<uint32_t>());
}

void LauncherClient::Expect(const cgroups::GroupLimits& limits, bool encloses) {
  Writer out;
  out.Put(limits.memory_bytes).Put(limits.swap_bytes).Put(limits.pids).Put(limits.cpu_millis);
  out.Put(encloses);
  absl::MutexLock lock(mutex_);
  if (std::exchange(started_, true)) return;
  // If it is lost, the start tells.
  Send(socket_.get(), kExpect, out.body(), nullptr, 0).IgnoreError();
}

absl::Status LauncherClient::Stop(pid_t pid, uint32_t grace_ms) {
  Writer out;
  out.Put(int32_t{pid}).Put(grace_ms);
  absl::MutexLock lock(mutex_);
  return Send(socket_.get(), kStopProcess, out.body(), nullptr, 0);
}

absl::StatusOr<std::string> LauncherClient::Violations(pid_t pid, uint64_t since) {
  Writer out;
  out.Put(int32_t{pid}).Put(since);
  Message answer;
  absl::MutexLock lock(mutex_);
  ABSL_RETURN_IF_ERROR(
      Ask(kProcessViolations, out.body(), nullptr, 0, kProcessViolationsAre, &answer));
  return answer.body;
}

absl::StatusOr<UniqueFd> LauncherClient::StartKeeper(absl::string_view title) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return ErrnoStatus(errno, "make the keeper's socket");
  }
  UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  Writer out;
  out.Put(title);
  const int fd = theirs.get();
  Message answer;
  {
    absl::MutexLock lock(mutex_);
    ABSL_RETURN_IF_ERROR(Ask(kStartKeeper, out.body(), &fd, 1, kKeeperStarted, &answer));
  }
  Reader in = answer.reader();
  const Step step = in.Get<Step>();
  const int error = in.Get<int32_t>();
  if (!in.done()) return absl::InternalError("the launcher's answer is malformed");
  if (step != Step::kNone) return StartError(step, error, "berth-keeper", "");
  return ours;
}

}  // namespace berth::launcher
