// What to run: specs of sessions and processes.

#include "runtime/spec.h"

#include <stddef.h>
#include <stdint.h>

#include <exception>
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
#include "runtime/env.h"

namespace berth::capi {
namespace {

template <typename Object>
int32_t AddArg(const void* handle, const char* data, size_t size) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(data, size, "arg"));
    object.args.emplace_back(text);
    return absl::OkStatus();
  });
}

template <typename Object>
int32_t SetShell(const void* handle, const char* data, size_t size) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view line, Text(data, size, "line"));
    object.args = Command::Shell(line).argv();
    return absl::OkStatus();
  });
}

template <typename Object>
int32_t SetEnv(const void* handle, const berth_env* env) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<EnvObject> from, Get<EnvObject>(env, "env"));
    ABSL_RETURN_IF_ERROR(from->error);
    object.spec.env = from->env;
    return absl::OkStatus();
  });
}

template <typename Object>
int32_t SetPolicy(const void* handle, const berth_policy* policy) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(object.spec.policy, GetPolicy(policy));
    return absl::OkStatus();
  });
}

template <typename Object>
int32_t SetTerminal(const void* handle, uint16_t rows, uint16_t cols) {
  return Change<Object>(handle, [&](Object& object) -> absl::Status {
    if ((rows == 0) != (cols == 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a terminal of ", rows, " rows, ", cols, " columns"));
    }
    object.spec.pty = rows != 0;
    if (object.spec.pty) object.spec.size = {rows, cols};
    return absl::OkStatus();
  });
}

template <typename Spec, typename Object>
absl::StatusOr<Spec> Finish(const void* handle) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<Object> object, Get<Object>(handle, "spec"));
  ABSL_RETURN_IF_ERROR(object->error);
  Spec spec = object->spec;
  spec.command = Command::Argv(object->args);
  return spec;
}

}  // namespace

absl::StatusOr<ProcessSpec> GetSpec(const berth_process_spec* spec) {
  return Finish<ProcessSpec, ProcessSpecObject>(spec);
}

absl::StatusOr<SessionSpec> GetSpec(const berth_session_spec* spec) {
  return Finish<SessionSpec, SessionSpecObject>(spec);
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: what follows is outside of it only because C has no
                              // namespaces
using ::berth::Stdio;

int32_t berth_session_spec_new(berth_session_spec** spec, const char* name, size_t name_size,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(spec, "spec"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    auto object = std::make_shared<SessionSpecObject>();
    object->spec.name = std::string(text);
    *spec = Handles::Add<berth_session_spec>(std::move(object));
    return absl::OkStatus();
  });
}

void berth_session_spec_free(berth_session_spec* spec) { Handles::Remove<SessionSpecObject>(spec); }

int32_t berth_session_spec_set_backend(berth_session_spec* spec, const char* backend,
                                       size_t backend_size) {
  return SetText<SessionSpecObject>(spec, backend, backend_size, "backend",
                                    [](auto& object) -> auto& { return object.spec.backend; });
}

int32_t berth_session_spec_add_arg(berth_session_spec* spec, const char* arg, size_t arg_size) {
  return AddArg<SessionSpecObject>(spec, arg, arg_size);
}

int32_t berth_session_spec_set_shell(berth_session_spec* spec, const char* line, size_t line_size) {
  return SetShell<SessionSpecObject>(spec, line, line_size);
}

int32_t berth_session_spec_set_env(berth_session_spec* spec, const berth_env* env) {
  return SetEnv<SessionSpecObject>(spec, env);
}

int32_t berth_session_spec_set_cwd(berth_session_spec* spec, const char* cwd, size_t cwd_size) {
  return SetText<SessionSpecObject>(spec, cwd, cwd_size, "cwd",
                                    [](auto& object) -> auto& { return object.spec.cwd; });
}

int32_t berth_session_spec_set_terminal(berth_session_spec* spec, uint16_t rows, uint16_t cols) {
  return SetTerminal<SessionSpecObject>(spec, rows, cols);
}

int32_t berth_session_spec_set_durable(berth_session_spec* spec, int32_t durable) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) {
    object.spec.durable = durable != 0;
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_time_limits(berth_session_spec* spec, int64_t wall_ms,
                                           int64_t inactivity_ms, int64_t grace_ms) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration wall, Milliseconds(wall_ms, true, "wall_ms"));
    ABSL_ASSIGN_OR_RETURN(const absl::Duration inactivity,
                          Milliseconds(inactivity_ms, true, "inactivity_ms"));
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    object.spec.wall_limit = wall;
    object.spec.inactivity_limit = inactivity;
    object.spec.grace = grace;
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_kept(berth_session_spec* spec, int32_t scrollback_lines,
                                    int64_t output_bytes) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) {
    object.spec.scrollback_lines = scrollback_lines;
    object.spec.output_bytes = output_bytes;
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_log(berth_session_spec* spec, const char* path, size_t path_size,
                                   int64_t cap_bytes) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(path, path_size, "path"));
    object.spec.log_path = std::string(text);
    object.spec.log_cap_bytes = cap_bytes;
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_label(berth_session_spec* spec, const char* key, size_t key_size,
                                     const char* value, size_t value_size) {
  return Change<SessionSpecObject>(spec, [&](SessionSpecObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view k, Text(key, key_size, "key"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view v, Text(value, value_size, "value"));
    object.spec.labels.insert_or_assign(std::string(k), std::string(v));
    return absl::OkStatus();
  });
}

int32_t berth_session_spec_set_policy(berth_session_spec* spec, const berth_policy* policy) {
  return SetPolicy<SessionSpecObject>(spec, policy);
}

int32_t berth_process_spec_new(berth_process_spec** spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(spec, "spec"));
    *spec = Handles::Add<berth_process_spec>(std::make_shared<ProcessSpecObject>());
    return absl::OkStatus();
  });
}

void berth_process_spec_free(berth_process_spec* spec) { Handles::Remove<ProcessSpecObject>(spec); }

int32_t berth_process_spec_add_arg(berth_process_spec* spec, const char* arg, size_t arg_size) {
  return AddArg<ProcessSpecObject>(spec, arg, arg_size);
}

int32_t berth_process_spec_set_shell(berth_process_spec* spec, const char* line, size_t line_size) {
  return SetShell<ProcessSpecObject>(spec, line, line_size);
}

int32_t berth_process_spec_set_env(berth_process_spec* spec, const berth_env* env) {
  return SetEnv<ProcessSpecObject>(spec, env);
}

int32_t berth_process_spec_set_cwd(berth_process_spec* spec, const char* cwd, size_t cwd_size) {
  return SetText<ProcessSpecObject>(spec, cwd, cwd_size, "cwd",
                                    [](auto& object) -> auto& { return object.spec.cwd; });
}

int32_t berth_process_spec_set_stdio(berth_process_spec* spec, int32_t stream, int32_t kind,
                                     int32_t fd) {
  return Change<ProcessSpecObject>(spec, [&](ProcessSpecObject& object) -> absl::Status {
    Stdio* const streams[] = {&object.spec.stdin_, &object.spec.stdout_, &object.spec.stderr_};
    if (stream < BERTH_STDIN || stream > BERTH_STDERR) {
      return absl::InvalidArgumentError(absl::StrCat("there is no stream ", stream));
    }
    switch (kind) {
      case BERTH_STDIO_NULL:
        *streams[stream] = Stdio::Null();
        return absl::OkStatus();
      case BERTH_STDIO_PIPE:
        *streams[stream] = Stdio::Pipe();
        return absl::OkStatus();
      case BERTH_STDIO_FD:
        *streams[stream] = Stdio::Fd(fd);
        return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("there is no kind of stream ", kind));
  });
}

int32_t berth_process_spec_set_terminal(berth_process_spec* spec, uint16_t rows, uint16_t cols) {
  return SetTerminal<ProcessSpecObject>(spec, rows, cols);
}

int32_t berth_process_spec_set_policy(berth_process_spec* spec, const berth_policy* policy) {
  return SetPolicy<ProcessSpecObject>(spec, policy);
}
