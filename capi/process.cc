// Processes.

#include "runtime/process.h"

#include <stdint.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "sandbox/base/unique_fd.h"

namespace berth::capi {
namespace {

// A call on a process: `body` takes it and returns a Status.
template <typename Body>
int32_t With(const berth_process* process, berth_error** error, Body&& body) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<ProcessObject>(process, "process"));
    return body(*object->process);
  });
}

// The same for one that gives a descriptor.
int32_t GiveFd(int32_t* fd, const berth_process* process, berth_error** error,
               absl::StatusOr<UniqueFd> (Process::*take)()) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    return PutFd((it.*take)(), fd);
  });
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Process;

void berth_process_free(berth_process* process) { Handles::Remove<ProcessObject>(process); }

int32_t berth_process_pid(const berth_process* process) {
  const std::shared_ptr<ProcessObject> object = Handles::Find<ProcessObject>(process);
  return object == nullptr ? -1 : object->process->pid();
}

int32_t berth_process_is_pty(const berth_process* process) {
  const std::shared_ptr<ProcessObject> object = Handles::Find<ProcessObject>(process);
  return object == nullptr ? -1 : object->process->is_pty();
}

int32_t berth_process_timing(berth_start_timing* timing, const berth_process* process,
                             berth_error** error) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(timing, "timing"));
    const berth::StartTiming at = it.timing();
    *timing = {absl::ToInt64Nanoseconds(at.requested), absl::ToInt64Nanoseconds(at.received),
               absl::ToInt64Nanoseconds(at.started), absl::ToInt64Nanoseconds(at.replied)};
    return absl::OkStatus();
  });
}

int32_t berth_process_take_stdin_fd(int32_t* fd, berth_process* process, berth_error** error) {
  return GiveFd(fd, process, error, &Process::TakeStdin);
}

int32_t berth_process_take_stdout_fd(int32_t* fd, berth_process* process, berth_error** error) {
  return GiveFd(fd, process, error, &Process::TakeStdout);
}

int32_t berth_process_take_stderr_fd(int32_t* fd, berth_process* process, berth_error** error) {
  return GiveFd(fd, process, error, &Process::TakeStderr);
}

int32_t berth_process_exit_fd(int32_t* fd, berth_process* process, berth_error** error) {
  return GiveFd(fd, process, error, &Process::ExitFd);
}

int32_t berth_process_resize(berth_process* process, uint16_t rows, uint16_t cols,
                             berth_error** error) {
  return With(process, error, [&](Process& it) { return it.Resize({rows, cols}); });
}

int32_t berth_process_signal(berth_process* process, int32_t signal, berth_error** error) {
  return With(process, error, [&](Process& it) { return it.Signal(signal); });
}

int32_t berth_process_stop(berth_exit* status, berth_process* process, int64_t grace_ms,
                           berth_error** error) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    return PutExit(it.Stop(grace), status);
  });
}

int32_t berth_process_wait(berth_exit* status, berth_process* process, int64_t timeout_ms,
                           berth_error** error) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    return PutExit(it.Wait(deadline), status);
  });
}

int32_t berth_process_stats(berth_stats* stats, berth_process* process, berth_error** error) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(stats, "stats"));
    return PutStats(it.GetStats(), stats);
  });
}

int32_t berth_process_violations(berth_violations** violations, berth_process* process,
                                 berth_error** error) {
  return With(process, error, [&](Process& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(violations, "violations"));
    ABSL_ASSIGN_OR_RETURN(auto all, it.Violations());
    return PutViolations(std::move(all), violations);
  });
}
