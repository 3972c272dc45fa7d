// Environments: places with several processes.

#include "runtime/environment.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/spec.h"

namespace berth::capi {
namespace {

// The runtime comes first, so that it goes last.
struct EnvironmentObject {
  static constexpr Kind kKind = Kind::kEnvironment;
  std::shared_ptr<RuntimeObject> runtime;
  const void* runtime_handle;
  std::unique_ptr<Environment> environment;
};

struct ProcessPlaceObject {
  static constexpr Kind kKind = Kind::kProcessPlace;
  ProcessPlace place;
  absl::Duration timeout = absl::InfiniteDuration();
  absl::Status error;
};

// Null is a place like any other.
absl::StatusOr<ProcessPlace> GetPlace(const berth_process_place* place) {
  if (place == nullptr) return ProcessPlace();
  ABSL_ASSIGN_OR_RETURN(const auto object, Get<ProcessPlaceObject>(place, "place"));
  ABSL_RETURN_IF_ERROR(object->error);
  ProcessPlace copy = object->place;
  copy.wait_deadline = absl::Now() + object->timeout;
  return copy;
}

template <typename Body>
int32_t With(const berth_environment* environment, berth_error** error, Body&& body) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<EnvironmentObject>(environment, "environment"));
    return body(*object->environment);
  });
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Environment;
using ::berth::ProcessPlace;

int32_t berth_environment_new(berth_environment** environment, berth_runtime* runtime,
                              const berth_session_spec* spec, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(environment, "environment"));
    ABSL_ASSIGN_OR_RETURN(const auto owner, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(berth::SessionSpec wanted, GetSpec(spec));
    auto object = std::make_shared<EnvironmentObject>(EnvironmentObject{owner, runtime, nullptr});
    return PutOwned(std::move(object), runtime, environment, [&](EnvironmentObject& it) {
      it.environment = std::make_unique<Environment>(owner->runtime.get(), std::move(wanted));
      return absl::OkStatus();
    });
  });
}

void berth_environment_free(berth_environment* environment) {
  Handles::Remove<EnvironmentObject>(environment);
}

int32_t berth_environment_init(berth_environment* environment, berth_error** error) {
  return With(environment, error, [](Environment& it) { return it.Init(); });
}

int32_t berth_process_place_new(berth_process_place** place, const char* name, size_t name_size,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(place, "place"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    auto object = std::make_shared<ProcessPlaceObject>();
    object->place.name = std::string(text);
    return Put(std::move(object), place);
  });
}

int32_t berth_process_place_add_wait_on(berth_process_place* place, const char* name,
                                        size_t name_size) {
  return Change<ProcessPlaceObject>(place, [&](ProcessPlaceObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    object.place.wait_on.emplace_back(text);
    return absl::OkStatus();
  });
}

int32_t berth_process_place_set_timeout(berth_process_place* place, int64_t timeout_ms) {
  return Change<ProcessPlaceObject>(place, [&](ProcessPlaceObject& object) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(object.timeout, Milliseconds(timeout_ms, true, "timeout_ms"));
    return absl::OkStatus();
  });
}

void berth_process_place_free(berth_process_place* place) {
  Handles::Remove<ProcessPlaceObject>(place);
}

int32_t berth_environment_start(berth_process** process, berth_environment* environment,
                                const berth_process_spec* spec, const berth_process_place* place,
                                berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(process, "process"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<EnvironmentObject>(environment, "environment"));
    ABSL_ASSIGN_OR_RETURN(const berth::ProcessSpec wanted, GetSpec(spec));
    ABSL_ASSIGN_OR_RETURN(const ProcessPlace where, GetPlace(place));
    return PutProcess(object->runtime, object->runtime_handle, process,
                      [&] { return object->environment->Start(wanted, where); });
  });
}

int32_t berth_environment_run(berth_exit* status, berth_environment* environment,
                              const berth_process_spec* spec, const berth_process_place* place,
                              int64_t timeout_ms, berth_error** error) {
  return With(environment, error, [&](Environment& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const berth::ProcessSpec wanted, GetSpec(spec));
    ABSL_ASSIGN_OR_RETURN(const ProcessPlace where, GetPlace(place));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    return PutExit(it.Run(wanted, deadline, where), status);
  });
}

int32_t berth_environment_check_binary(berth_environment* environment, const char* name,
                                       size_t name_size, berth_error** error) {
  return With(environment, error, [&](Environment& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::string_view text, Text(name, name_size, "name"));
    return it.CheckBinary(text);
  });
}

int32_t berth_environment_host_port(uint16_t* port, berth_environment* environment, uint16_t inside,
                                    berth_error** error) {
  return With(environment, error, [&](Environment& it) -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(port, "port"));
    ABSL_ASSIGN_OR_RETURN(*port, it.HostPort(inside));
    return absl::OkStatus();
  });
}

int32_t berth_environment_stop(berth_environment* environment, int64_t grace_ms,
                               berth_error** error) {
  return With(environment, error, [&](Environment& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    return it.Stop(grace);
  });
}

int32_t berth_environment_shutdown(berth_environment* environment, int64_t grace_ms,
                                   berth_error** error) {
  return With(environment, error, [&](Environment& it) -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const absl::Duration grace, Milliseconds(grace_ms, false, "grace_ms"));
    return it.Shutdown(grace);
  });
}

int32_t berth_environment_session(berth_session** session, berth_environment* environment,
                                  berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(session, "session"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<EnvironmentObject>(environment, "environment"));
    return PutSession(object->runtime, object->runtime_handle, session,
                      [&] { return object->environment->session(); });
  });
}
