// Sessions.

#include "runtime/session.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/types.h"

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Session;

void berth_session_free(berth_session* session) { Handles::Remove<SessionObject>(session); }

const char* berth_session_handle(const berth_session* session, size_t* size) {
  const std::shared_ptr<SessionObject> object = Handles::Find<SessionObject>(session);
  return GiveText(object == nullptr ? nullptr : &object->session->handle(), size);
}

int32_t berth_session_name(berth_string** name, berth_session* session, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(name, "name"));
    return PutString(it.name(), name);
  });
}

int32_t berth_session_info(berth_infos** infos, berth_session* session, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(infos, "infos"));
    ABSL_ASSIGN_OR_RETURN(berth::SessionInfo info, it.Info());
    std::vector<berth::SessionInfo> list;
    list.push_back(std::move(info));
    return PutInfos(std::move(list), infos);
  });
}

int32_t berth_session_liveness(int32_t* liveness, berth_string** reason, berth_session* session,
                               berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(liveness, "liveness"));
    berth::LivenessReport report = it.CheckLiveness();
    if (reason != nullptr) {
      ABSL_RETURN_IF_ERROR(PutString(std::move(report.reason), reason));
    }
    *liveness = LivenessNumber(report.liveness);
    return absl::OkStatus();
  });
}

int32_t berth_session_capture(berth_string** text, berth_session* session, int32_t lines,
                              uint32_t flags, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(text, "text"));
    if (lines < 0) return absl::InvalidArgumentError(absl::StrCat("lines is ", lines));
    if ((flags & ~BERTH_CAPTURE_COLOUR) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("unknown flags of capture: ", flags));
    }
    ABSL_ASSIGN_OR_RETURN(
        std::string screen,
        it.Capture({.lines = lines, .colour = (flags & BERTH_CAPTURE_COLOUR) != 0}));
    return PutString(std::move(screen), text);
  });
}

int32_t berth_session_output_fd(int32_t* fd, int64_t* begins, berth_session* session,
                                int32_t stream, int64_t from, int64_t buffer_bytes,
                                berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    if (stream != BERTH_STDOUT && stream != BERTH_STDERR) {
      return absl::InvalidArgumentError(absl::StrCat("there is no output stream ", stream));
    }
    if (from < -1 || buffer_bytes < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("from ", from, ", buffer_bytes ", buffer_bytes));
    }
    berth::OutputOptions options;
    if (stream == BERTH_STDERR) options.stream = berth::OutputStream::kStderr;
    options.from = from;
    if (buffer_bytes >= 0) options.buffer_bytes = buffer_bytes;
    ABSL_ASSIGN_OR_RETURN(berth::Output output, it.OpenOutput(options));
    if (begins != nullptr) *begins = output.begins;
    *fd = output.fd.release();
    return absl::OkStatus();
  });
}

int32_t berth_session_resize(berth_session* session, uint16_t rows, uint16_t cols,
                             berth_error** error) {
  return OnSession(session, error, [&](Session& it) { return it.Resize({rows, cols}); });
}

int32_t berth_session_attach_fd(int32_t* fd, berth_session* session, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    return PutFd(it.Attach(), fd);
  });
}

int32_t berth_session_attach_command(berth_strings** argv, berth_session* session,
                                     berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(argv, "argv"));
    return PutStrings(it.AttachCommand(), argv);
  });
}

int32_t berth_session_set_log(berth_session* session, const char* path, size_t path_size,
                              int64_t cap_bytes, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(path, path_size, "path"));
    return it.SetLog(text, cap_bytes);
  });
}

int32_t berth_session_set_env(berth_session* session, const char* key, size_t key_size,
                              const char* value, size_t value_size, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view v, Text(value, value_size, "value"));
    return it.SetEnvironment(k, v);
  });
}

int32_t berth_session_exec(berth_process** process, berth_session* session,
                           const berth_process_spec* spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(process, "process"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<SessionObject>(session, "session"));
    ABSL_ASSIGN_OR_RETURN(const berth::ProcessSpec wanted, GetSpec(spec));
    return PutProcess(object->runtime, object->runtime_handle, process,
                      [&] { return object->session->Exec(wanted); });
  });
}

int32_t berth_session_stats(berth_stats* stats, berth_session* session, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(stats, "stats"));
    return PutStats(it.GetStats(), stats);
  });
}

int32_t berth_session_signal(berth_session* session, int32_t signal, berth_error** error) {
  return OnSession(session, error, [&](Session& it) { return it.Signal(signal); });
}

int32_t berth_session_stop(berth_exit* status, berth_session* session, int64_t grace_ms,
                           berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    return PutExit(it.Stop(grace), status);
  });
}

int32_t berth_session_wait(berth_exit* status, berth_session* session, int64_t timeout_ms,
                           berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    return PutExit(it.Wait(deadline), status);
  });
}

int32_t berth_session_exit_fd(int32_t* fd, berth_session* session, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    return PutFd(it.ExitFd(), fd);
  });
}

int32_t berth_session_rename(berth_session* session, const char* name, size_t name_size,
                             berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    return it.Rename(text);
  });
}

int32_t berth_session_destroy(berth_session* session, int64_t grace_ms, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    return it.Destroy(grace);
  });
}

int32_t berth_session_watch_violations(berth_violation_feed** feed, berth_session* session,
                                       int64_t seen, berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(feed, "feed"));
    if (seen < 0) return NoSuch("violation", seen);
    ABSL_ASSIGN_OR_RETURN(auto made, it.WatchViolations(seen));
    return PutViolationFeed(std::move(made), feed);
  });
}

int32_t berth_session_changes(berth_changes** changes, berth_session* session,
                              berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(changes, "changes"));
    ABSL_ASSIGN_OR_RETURN(auto all, it.Changes());
    return PutChanges(std::move(all), changes);
  });
}

int32_t berth_session_keep_changes(berth_session* session, const berth_strings* paths,
                                   berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto chosen, GetStringsOrNone(paths, "paths"));
    // None would be all of them.
    if (paths != nullptr && chosen.empty()) return absl::OkStatus();
    return it.KeepChanges(chosen);
  });
}

int32_t berth_session_discard_changes(berth_session* session, berth_error** error) {
  return OnSession(session, error, [](Session& it) { return it.DiscardChanges(); });
}

int32_t berth_session_violations(berth_violations** violations, berth_session* session,
                                 berth_error** error) {
  return OnSession(session, error, [&](Session& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(violations, "violations"));
    ABSL_ASSIGN_OR_RETURN(auto all, it.Violations());
    return PutViolations(std::move(all), violations);
  });
}
