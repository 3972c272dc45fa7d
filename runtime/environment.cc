#include "runtime/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/choose.h"
#include "runtime/env.h"
#include "runtime/ports/port.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

// Does nothing for 68 years: every shell's system has it.
Command Pause() { return Command::Argv({"sleep", "2147483647"}); }

// What a backend that shares the host's files and ports cannot do.
absl::Status CheckShared(const SessionSpec& spec) {
  for (const Mount& mount : spec.container.mounts) {
    if (mount.source == mount.target && !mount.read_only) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("mount '", mount.source, "' at '", mount.target,
                     "': without a container the host's files are where they are; a policy can "
                     "make them read-only"));
  }
  for (const PortMapping& port : spec.container.ports) {
    if (port.host == 0 || port.host == port.inside) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "port ", port.inside, " as ", port.host, ": without a container a port is the host's own"));
  }
  return absl::OkStatus();
}

// Only the place knows: an image or a dev shell has variables of its own.
absl::StatusOr<std::vector<std::string>> VariablesOf(Session* session) {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Process> cat,
                        session->Exec({.command = Command::Argv({"cat", "/proc/self/environ"}),
                                       .env = Env::Clean(),
                                       .stderr_ = Stdio::Null()}));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd out, cat->TakeStdout());
  std::string text;
  char buffer[65536];
  while (true) {
    ABSL_RETURN_IF_ERROR(WaitFd(out.get(), POLLIN, deadline, "read the place's environment"));
    const ssize_t n = read(out.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read the place's environment");
    if (n == 0) return absl::StrSplit(text, '\0', absl::SkipEmpty());
    text.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

Environment::Environment(Runtime* runtime, SessionSpec spec)
    : runtime_(runtime), spec_(std::move(spec)) {}

absl::Status Environment::Init() {
  absl::MutexLock lock(mutex_);
  if (!handle_.empty()) {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> old, runtime_->Open(handle_));
    const LivenessReport report = old->CheckLiveness();
    if (report.liveness == Liveness::kAlive) return absl::OkStatus();
    if (report.liveness == Liveness::kUnknown) {
      return absl::UnavailableError(
          absl::StrCat("environment '", spec_.name, "': ", report.reason));
    }
    ABSL_RETURN_IF_ERROR(old->Destroy(absl::ZeroDuration()));
    handle_.clear();
  }
  SessionSpec spec = spec_;
  spec.command = Pause();
  ABSL_ASSIGN_OR_RETURN(const Choice choice, runtime_->Choose(spec));
  spec.backend = choice.backend;
  spec.pty = choice.backend == "tmux";  // which has nothing else; nobody uses it
  if (choice.backend != "docker") {
    ABSL_RETURN_IF_ERROR(CheckShared(spec));
    spec.container = {};
  }
  std::vector<PortMapping*> open;
  for (PortMapping& port : spec.container.ports) {
    if (port.host == 0) open.push_back(&port);
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<uint16_t> free, FindFreePorts(open.size()));
  for (size_t i = 0; i < open.size(); ++i) open[i]->host = free[i];
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, runtime_->CreateSession(spec));
  if (choice.backend == "docker") spec_.container.ports = spec.container.ports;
  handle_ = session->handle();
  backend_ = choice.backend;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Session>> Environment::session() {
  std::string handle, name;
  {
    absl::MutexLock lock(mutex_);
    handle = handle_;
    name = spec_.name;
  }
  if (handle.empty()) {
    return absl::NotFoundError(absl::StrCat("environment '", name, "' is not up"));
  }
  return runtime_->Open(handle);
}

absl::Status Environment::AwaitOthers(const ProcessPlace& place) {
  for (const std::string& name : place.wait_on) {
    UniqueFd end;
    {
      absl::MutexLock lock(mutex_);
      const auto it = ends_.find(name);
      if (it == ends_.end()) {
        return absl::NotFoundError(
            absl::StrCat("wait on '", name, "': no process of that name was started here"));
      }
      end = UniqueFd(fcntl(it->second.get(), F_DUPFD_CLOEXEC, 3));
    }
    if (!end.ok()) return ErrnoStatus(errno, absl::StrCat("wait on '", name, "'"));
    if (absl::Status ended = WaitFd(end.get(), POLLIN, place.wait_deadline, "wait for its end");
        !ended.ok()) {
      return absl::Status(ended.code(), absl::StrCat("wait on '", name, "': ", ended.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Process>> Environment::Start(const ProcessSpec& spec,
                                                            const ProcessPlace& place) {
  absl::StatusOr<std::unique_ptr<Session>> here = session();
  if (absl::IsNotFound(here.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(here.status().message(), ": call Init first"));
  }
  ABSL_RETURN_IF_ERROR(here.status());
  ABSL_RETURN_IF_ERROR(AwaitOthers(place));
  ProcessSpec run = spec;
  if (spec.env.adds()) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> there, VariablesOf(here->get()));
    run.env = spec.env.Over(there);
  }
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Process> process, (*here)->Exec(run));
  if (!place.name.empty()) {
    ABSL_ASSIGN_OR_RETURN(UniqueFd end, process->ExitFd());
    absl::MutexLock lock(mutex_);
    ends_[place.name] = std::move(end);
  }
  return process;
}

absl::StatusOr<ExitStatus> Environment::Run(const ProcessSpec& spec, absl::Time deadline,
                                            const ProcessPlace& place) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, Start(spec, place));
  return process->Wait(deadline);
}

absl::Status Environment::CheckBinary(absl::string_view name) {
  if (name.empty() || absl::StrContains(name, '\0')) {
    return absl::InvalidArgumentError("the name of a program is empty or has a NUL byte");
  }
  // As an argument, not in the line: a name may hold anything.
  ABSL_ASSIGN_OR_RETURN(const ExitStatus status,
                        Run({.command = Command::Argv({"/bin/sh", "-c", "command -v -- \"$1\"",
                                                       "sh", std::string(name)}),
                             .env = Env::Clean(),
                             .stdout_ = Stdio::Null(),
                             .stderr_ = Stdio::Null()},
                            absl::Now() + absl::Seconds(60)));
  if (status.success()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no program '", name, "' on the PATH there"));
}

absl::StatusOr<uint16_t> Environment::HostPort(uint16_t inside) const {
  absl::MutexLock lock(mutex_);
  if (backend_ != "docker") return inside;
  for (const PortMapping& port : spec_.container.ports) {
    if (port.inside == inside) return port.host;
  }
  return absl::NotFoundError(absl::StrCat("port ", inside, " is not published"));
}

absl::Status Environment::Stop(absl::Duration grace) {
  absl::StatusOr<std::unique_ptr<Session>> here = session();
  if (absl::IsNotFound(here.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(here.status());
  return (*here)->Stop(grace).status();
}

absl::Status Environment::Shutdown(absl::Duration grace) {
  absl::StatusOr<std::unique_ptr<Session>> here = session();
  if (here.ok()) {
    ABSL_RETURN_IF_ERROR((*here)->Destroy(grace));
  } else if (!absl::IsNotFound(here.status())) {
    return here.status();
  }
  absl::MutexLock lock(mutex_);
  handle_.clear();
  ends_.clear();
  return absl::OkStatus();
}

}  // namespace berth
