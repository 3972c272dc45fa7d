#include "runtime/docker/docker_session.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/docker_process.h"
#include "runtime/docker/labels.h"
#include "runtime/docker/relay/signals.h"
#include "runtime/docker/relay_start.h"
#include "runtime/docker/wait_stream.h"
#include "runtime/start_request.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr absl::Duration kAskTime = absl::Seconds(5);
constexpr absl::Duration kKillTime = absl::Seconds(60);

}  // namespace

void CompleteInfo(const Record& record, const ContainerTruth& truth, SessionInfo* info) {
  info->state = truth.state;
  info->exit = truth.exit;
  info->pid = 0;  // in a namespace, or on a machine, that is not ours
  info->tree = kTreePidNamespace;
  info->address = record.engine_address;
  const auto cwd = record.labels.find("berth.cwd");
  info->cwd = cwd != record.labels.end() ? cwd->second : "";
  info->labels.erase("berth.cwd");
}

DockerSession::DockerSession(std::shared_ptr<const Store> store, const Record& record,
                             std::shared_ptr<EngineClient> client, std::unique_ptr<Session> held)
    : store_(std::move(store)),
      uid_(record.uid),
      container_(record.container_id.empty() ? ContainerName(record.uid) : record.container_id),
      client_(std::move(client)),
      held_(std::move(held)) {}

std::string DockerSession::At(absl::string_view rest) const {
  return absl::StrCat("/containers/", container_, rest);
}

absl::Status DockerSession::StillThere() const {
  const absl::Status read = store_->Read(uid_).status();
  if (!absl::IsNotFound(read)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no session ", held_->handle(), " (any more)"));
}

absl::StatusOr<ContainerTruth> DockerSession::Ask() const {
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  ContainerTruth truth;
  if (const std::optional<ExitStatus> end = WrittenEnd(*store_, uid_); end.has_value()) {
    // All that it wrote is the keeper's before anybody is told that it ended.
    held_->Wait(absl::Now() + kAskTime).IgnoreError();
    truth.state = SessionState::kExited;
    truth.exit = *end;
    truth.reason = Describe(*end);
    return truth;
  }
  if (record.state == kStateStarting) {
    truth.state = SessionState::kStarting;
    truth.reason = "it is being started";
    return truth;
  }
  return TruthOfInspect(client_->Get(At("/json"), kAskTime));
}

absl::StatusOr<SessionInfo> DockerSession::Info() {
  ABSL_ASSIGN_OR_RETURN(const ContainerTruth truth, Ask());
  ABSL_ASSIGN_OR_RETURN(SessionInfo info, held_->Info());
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  CompleteInfo(record, truth, &info);
  return info;
}

LivenessReport DockerSession::CheckLiveness() {
  const absl::StatusOr<ContainerTruth> truth = Ask();
  if (!truth.ok()) {
    return {absl::IsNotFound(truth.status()) ? Liveness::kDead : Liveness::kUnknown,
            std::string(truth.status().message())};
  }
  switch (truth->state) {
    case SessionState::kRunning:
      return {Liveness::kAlive, truth->reason};
    case SessionState::kExited:
      return {Liveness::kDead, truth->reason};
    case SessionState::kStarting:
    case SessionState::kUnknown:
      break;
  }
  return {Liveness::kUnknown, truth->reason};
}

absl::StatusOr<Delivery> DockerSession::Send(const Message& message, absl::Time deadline) {
  return held_->Send(message, deadline);
}
absl::Status DockerSession::SendKeys(const std::vector<std::string>& keys) {
  return held_->SendKeys(keys);
}
absl::StatusOr<std::string> DockerSession::Capture(const CaptureOptions& options) {
  return held_->Capture(options);
}
absl::StatusOr<Output> DockerSession::OpenOutput(const OutputOptions& options) {
  return held_->OpenOutput(options);
}
absl::Status DockerSession::CloseStdin() { return held_->CloseStdin(); }
absl::Status DockerSession::Resize(TerminalSize size) { return held_->Resize(size); }
absl::StatusOr<UniqueFd> DockerSession::Attach() { return held_->Attach(); }
absl::Status DockerSession::SetLog(absl::string_view path, int64_t cap_bytes) {
  return held_->SetLog(path, cap_bytes);
}
absl::Status DockerSession::SetEnvironment(absl::string_view key, absl::string_view value) {
  return held_->SetEnvironment(key, value);
}
absl::Status DockerSession::Rename(absl::string_view new_name) { return held_->Rename(new_name); }

absl::StatusOr<std::unique_ptr<Process>> DockerSession::Exec(const ProcessSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckCommand(spec.command));
  if (!spec.cwd.empty()) {
    ABSL_RETURN_IF_ERROR(ResolveCwd(spec.cwd).status());
  }
  ABSL_RETURN_IF_ERROR(StillThere());
  ABSL_ASSIGN_OR_RETURN(const std::string version, client_->Version());
  ABSL_ASSIGN_OR_RETURN(const std::string address, NumericAddress(client_->address()));
  ABSL_ASSIGN_OR_RETURN(const std::string relay, RelayPath(client_->address().is_tls()));
  ABSL_ASSIGN_OR_RETURN(const StartReport report, StartReport::Make(*store_, uid_));
  ABSL_ASSIGN_OR_RETURN(const Record record, store_->Read(uid_));
  const auto session_cwd = record.labels.find("berth.cwd");
  const std::string cwd = !spec.cwd.empty()                    ? spec.cwd
                          : session_cwd != record.labels.end() ? session_cwd->second
                                                               : "";
  ABSL_ASSIGN_OR_RETURN(const std::string filter, KeptFilter(*store_, uid_));
  std::vector<std::string> argv = {relay,
                                   "relay-exec",
                                   address,
                                   version,
                                   container_,
                                   report.path(),
                                   absl::BytesToHexString(filter),
                                   cwd};
  argv.insert(argv.end(), spec.command.argv().begin(), spec.command.argv().end());
  ProcessSpec below = spec;
  below.command = Command::Argv(std::move(argv));
  below.cwd = "/";
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Process> process, held_->Exec(below));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd gone, process->ExitFd());
  ABSL_RETURN_IF_ERROR(
      report.Wait(spec.command.argv()[0], cwd, gone.get(), absl::Now() + EngineClient::kLimit));
  return std::make_unique<DockerProcess>(std::move(process));
}

absl::StatusOr<Stats> DockerSession::GetStats() {
  ABSL_RETURN_IF_ERROR(StillThere());
  ABSL_ASSIGN_OR_RETURN(const Json json, client_->Get(At("/stats?stream=false&one-shot=true")));
  Stats stats;
  stats.source = "docker";
  const int64_t cpu = NumberAt(json, "/cpu_stats/cpu_usage/total_usage");
  stats.cpu = absl::Nanoseconds(std::max<int64_t>(cpu, 0));
  stats.memory_bytes = NumberAt(json, "/memory_stats/usage");
  stats.processes = NumberAt(json, "/pids_stats/current");
  // What the page cache holds can be given back at once, and is not counted: v2, then v1.
  for (const char* key :
       {"/memory_stats/stats/inactive_file", "/memory_stats/stats/total_inactive_file"}) {
    const int64_t cache = NumberAt(json, key);
    if (cache < 0 || stats.memory_bytes < cache) continue;
    stats.memory_bytes -= cache;
    break;
  }
  const auto blkio = json.find("blkio_stats");
  if (blkio != json.end() && blkio->is_object() && blkio->contains("io_service_bytes_recursive") &&
      (*blkio)["io_service_bytes_recursive"].is_array()) {
    for (const Json& entry : (*blkio)["io_service_bytes_recursive"]) {
      const std::string op = TextAt(entry, "/op");
      const int64_t bytes = NumberAt(entry, "/value", 0);
      if (op == "Read" || op == "read")
        stats.read_bytes = std::max<int64_t>(stats.read_bytes, 0) + bytes;
      if (op == "Write" || op == "write")
        stats.write_bytes = std::max<int64_t>(stats.write_bytes, 0) + bytes;
    }
  }
  if (stats.processes <= 0)
    return absl::FailedPreconditionError("the session has ended, and uses nothing");
  return stats;
}

absl::Status DockerSession::Signal(int signal) {
  if (signal == 0) return held_->Signal(0);
  const int disguised = relay::Disguise(signal);
  if (disguised < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("signal ", signal, " cannot be sent into a container"));
  }
  return held_->Signal(disguised);
}

absl::Status DockerSession::Kill(const char* signal, absl::Duration limit) const {
  const absl::Status status =
      client_->Post(At(absl::StrCat("/kill?signal=", signal)), nullptr, limit).status();
  // 409: it does not run. 404: there is none (any more).
  if (absl::IsFailedPrecondition(status) || absl::IsNotFound(status)) return absl::OkStatus();
  return status;
}

absl::StatusOr<UniqueFd> DockerSession::WaitFdOfEngine(absl::Time deadline) const {
  ABSL_ASSIGN_OR_RETURN(const std::string version, client_->Version());
  return OpenWait(client_->address(), version, container_, deadline);
}

absl::Status DockerSession::AwaitEnd(absl::Time deadline) const {
  for (;;) {
    const absl::Duration left =
        std::clamp(deadline - absl::Now(), absl::Milliseconds(1), absl::Hours(1000000));
    const absl::Status ended = client_->Post(At("/wait"), nullptr, left).status();
    if (ended.ok() || absl::IsNotFound(ended)) return absl::OkStatus();
    if (absl::Now() >= deadline)
      return absl::DeadlineExceededError("wait for the container to end: not in time");
    // A wait ends without an answer now and then: Podman gives up one that lasts, and the HTTP
    // library counts whole milliseconds. What the engine says of the container decides.
    const ContainerTruth truth = TruthOfInspect(client_->Get(At("/json"), kAskTime));
    if (truth.state == SessionState::kExited) return absl::OkStatus();
    if (truth.state != SessionState::kRunning) return ended;
  }
}

absl::StatusOr<ExitStatus> DockerSession::Stop(absl::Duration grace) {
  ABSL_RETURN_IF_ERROR(StillThere());
  const absl::Status told = Kill("TERM", kAskTime);
  if (!told.ok() && !HasWrittenEnd()) return told;
  if (told.ok()) {
    // The engine's word: everything in the container is gone, and its ports are free.
    absl::Status ended = absl::DeadlineExceededError("");
    if (grace > absl::ZeroDuration()) ended = AwaitEnd(absl::Now() + grace);
    if (absl::IsDeadlineExceeded(ended)) {
      ABSL_RETURN_IF_ERROR(Kill("KILL", kKillTime));
      ended = AwaitEnd(absl::Now() + kKillTime);
    }
    ABSL_RETURN_IF_ERROR(ended);
  }
  return Wait(absl::Now() + kKillTime);
}

absl::StatusOr<ExitStatus> DockerSession::Wait(absl::Time deadline) {
  ABSL_RETURN_IF_ERROR(StillThere());
  absl::StatusOr<UniqueFd> engine = absl::UnavailableError("");
  if (!HasWrittenEnd() && client_->address().is_tls()) {
    ABSL_ASSIGN_OR_RETURN(const UniqueFd held, held_->ExitFd());
    ABSL_RETURN_IF_ERROR(WaitFd(held.get(), POLLIN, deadline, "wait for the session"));
    if (!HasWrittenEnd()) {
      ABSL_RETURN_IF_ERROR(AwaitEnd(deadline));
    }
  } else if (!HasWrittenEnd()) {
    engine = WaitFdOfEngine(std::max(std::min(deadline, absl::Now() + kAskTime),
                                     absl::Now() + absl::Milliseconds(200)));
    if (engine.ok()) {
      absl::StatusOr<UniqueFd> held = held_->ExitFd();
      // Either tells: the relay has the last word, but may have been killed.
      const absl::Status waited = WaitFdOrCancel(
          engine->get(), POLLIN, held.ok() ? held->get() : -1, deadline, "wait for the session");
      if (absl::IsDeadlineExceeded(waited)) return waited;
      if (absl::IsCancelled(waited) && !HasWrittenEnd()) {
        ABSL_RETURN_IF_ERROR(WaitFd(engine->get(), POLLIN, deadline, "wait for the session"));
      }
    }
  }
  ABSL_RETURN_IF_ERROR(StillThere());
  if (engine.ok() && !HasWrittenEnd()) {
    const absl::Status code = ReadWait(engine->get()).status();
    if (!code.ok() && !HasWrittenEnd()) return code;
    held_->Wait(absl::Now() + kAskTime).IgnoreError();
  }
  ABSL_ASSIGN_OR_RETURN(const ContainerTruth truth, Ask());
  if (truth.state == SessionState::kExited) return truth.exit;
  // By ssh it takes longer to ask than some would wait.
  if (truth.state == SessionState::kRunning && absl::Now() >= deadline)
    return absl::DeadlineExceededError("wait for the session: not in time");
  return absl::UnavailableError(absl::StrCat("the session's end is not known: ", truth.reason));
}

absl::StatusOr<UniqueFd> DockerSession::ExitFd() {
  ABSL_RETURN_IF_ERROR(StillThere());
  // Under TLS the engine's answer cannot be polled for; the relay, which knows as much, can.
  if (client_->address().is_tls()) return held_->ExitFd();
  if (!HasWrittenEnd()) {
    absl::StatusOr<UniqueFd> engine = WaitFdOfEngine(absl::Now() + kAskTime);
    if (!absl::IsNotFound(engine.status())) return engine;
  }
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return ErrnoStatus(errno, "make a socket");
  const UniqueFd closed(fds[1]);
  return UniqueFd(fds[0]);
}

absl::Status DockerSession::Destroy(absl::Duration grace) {
  if (absl::IsNotFound(store_->Read(uid_).status())) return absl::OkStatus();
  // The engine first: without its word that the container is gone, the record stays.
  const absl::StatusOr<Json> container = client_->Get(At("/json"), kAskTime);
  const ContainerTruth truth = TruthOfInspect(container);
  if (truth.state == SessionState::kUnknown) return absl::UnavailableError(truth.reason);
  if (truth.state == SessionState::kRunning && grace > absl::ZeroDuration()) {
    ABSL_RETURN_IF_ERROR(Kill("TERM", kAskTime));
    AwaitEnd(absl::Now() + grace).IgnoreError();
  }
  if (container.ok() &&
      TextAt(*container, absl::StrCat("/Config/Labels/", kLabelReuse)) == "true") {
    ABSL_RETURN_IF_ERROR(Kill("KILL", kKillTime));
  } else {
    const absl::Status removed = client_->Delete(At("?force=1&v=1"), kKillTime).status();
    // 409: somebody else is removing it.
    if (!removed.ok() && !absl::IsNotFound(removed) && !absl::IsFailedPrecondition(removed))
      return removed;
  }
  return held_->Destroy(absl::Seconds(10));
}

}  // namespace berth
