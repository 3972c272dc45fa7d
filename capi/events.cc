// Events of a runtime.

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/runtime.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/violation.h"

namespace berth::capi {
namespace {

struct EventObject {
  static constexpr Kind kKind = Kind::kEvent;
  Event event;
};

// The next one until then. Another thread may take it first, so it is asked for again.
absl::StatusOr<std::optional<Event>> Next(Runtime& runtime, absl::Time deadline) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(std::optional<Event> event, runtime.NextEvent());
    if (event.has_value()) return event;
    const absl::Status ready = WaitFd(runtime.event_fd(), POLLIN, deadline, "wait for an event");
    if (absl::IsDeadlineExceeded(ready)) return std::nullopt;
    ABSL_RETURN_IF_ERROR(ready);
  }
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::Event;

int32_t berth_runtime_event_fd(int32_t* fd, berth_runtime* runtime, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    return PutFdCopy(object->runtime->event_fd(), fd);
  });
}

int32_t berth_runtime_next_event(berth_event** event, berth_runtime* runtime, int64_t timeout_ms,
                                 berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(event, "event"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    ABSL_ASSIGN_OR_RETURN(std::optional<Event> next, Next(*object->runtime, deadline));
    *event = !next.has_value() ? nullptr
                               : Handles::Add<berth_event>(
                                     std::make_shared<EventObject>(EventObject{*std::move(next)}));
    return absl::OkStatus();
  });
}

int32_t berth_event_kind(const berth_event* event) {
  const std::shared_ptr<EventObject> object = Handles::Find<EventObject>(event);
  return object == nullptr ? BERTH_EVENT_NONE : static_cast<int32_t>(object->event.kind);
}

const char* berth_event_handle(const berth_event* event, size_t* size) {
  const std::shared_ptr<EventObject> object = Handles::Find<EventObject>(event);
  return GiveText(object == nullptr ? nullptr : &object->event.handle, size);
}

const char* berth_event_name(const berth_event* event, size_t* size) {
  const std::shared_ptr<EventObject> object = Handles::Find<EventObject>(event);
  return GiveText(object == nullptr ? nullptr : &object->event.name, size);
}

const char* berth_event_detail(const berth_event* event, size_t* size) {
  const std::shared_ptr<EventObject> object = Handles::Find<EventObject>(event);
  return GiveText(object == nullptr ? nullptr : &object->event.detail, size);
}

int32_t berth_event_exit(berth_exit* status, const berth_event* event, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(status, "status"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<EventObject>(event, "event"));
    return PutExit(object->event.exit, status);
  });
}

int32_t berth_event_violations(berth_violations** violations, const berth_event* event,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(violations, "violations"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<EventObject>(event, "event"));
    std::vector<berth::Violation> all;
    if (object->event.kind == Event::Kind::kViolation) all.push_back(object->event.violation);
    return PutViolations(std::move(all), violations);
  });
}

void berth_event_free(berth_event* event) { Handles::Remove<EventObject>(event); }
