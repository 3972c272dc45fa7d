// Agents that run, and those who look on.

#include "runtime/agent/agent_run.h"

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "capi/agent_objects.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/agent/subscribers.h"

namespace berth::capi {
namespace {

// The runtime comes first, so that it goes last.
struct AgentRunObject {
  static constexpr Kind kKind = Kind::kAgentRun;
  std::shared_ptr<RuntimeObject> runtime;
  std::unique_ptr<AgentRun> run;
  Turns turns;  // to drive it
};

struct AgentSubscriptionObject {
  static constexpr Kind kKind = Kind::kAgentSubscription;
  absl::Mutex mutex;
  std::unique_ptr<EventHub::Subscription> subscription ABSL_GUARDED_BY(mutex);
};

// The next event of a subscription, counting what was missed before it.
std::shared_ptr<const AgentEvent> NextOf(EventHub::Subscription& subscription, int64_t* missed) {
  while (std::optional<EventHub::Item> item = subscription.Next()) {
    if (item->event != nullptr) return item->event;
    *missed += item->missed_last - item->missed_first + 1;
  }
  return nullptr;
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::AgentRun;

int32_t berth_agent_start(berth_agent_run** run, berth_runtime* runtime,
                          const berth_agent_context* context, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(run, "run"));
    ABSL_ASSIGN_OR_RETURN(const auto owner, Get<RuntimeObject>(runtime, "runtime"));
    ABSL_ASSIGN_OR_RETURN(berth::AgentContext wanted, GetAgentContext(context));
    auto object = std::make_shared<AgentRunObject>();
    object->runtime = owner;
    return PutOwned(std::move(object), runtime, run, [&](AgentRunObject& it) -> absl::Status {
      ABSL_ASSIGN_OR_RETURN(it.run, AgentRun::Start(owner->runtime.get(), std::move(wanted)));
      return absl::OkStatus();
    });
  });
}

void berth_agent_run_free(berth_agent_run* run) { Handles::Remove<AgentRunObject>(run); }

int32_t berth_agent_run_fd(int32_t* fd, berth_agent_run* run, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    return PutFdCopy(object->run->fd(), fd);
  });
}

int32_t berth_agent_run_next(berth_agent_event** event, berth_agent_run* run, int64_t timeout_ms,
                             berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(event, "event"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    if (!object->turns.Take(deadline)) return PutAgentEvent(std::nullopt, event);
    const absl::Cleanup give_back = [&] { object->turns.GiveBack(); };
    ABSL_ASSIGN_OR_RETURN(auto next, object->run->Next(deadline));
    return PutAgentEvent(std::move(next), event);
  });
}

int32_t berth_agent_run_finished(const berth_agent_run* run) {
  const std::shared_ptr<AgentRunObject> object = Handles::Find<AgentRunObject>(run);
  return object == nullptr ? -1 : object->run->finished();
}

int32_t berth_agent_run_drive(berth_agent_result** result, berth_agent_run* run, int64_t timeout_ms,
                              berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(result, "result"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    ABSL_ASSIGN_OR_RETURN(const absl::Time deadline, Deadline(timeout_ms));
    if (!object->turns.Take(deadline)) {
      return absl::DeadlineExceededError("another thread drives this run");
    }
    const absl::Cleanup give_back = [&] { object->turns.GiveBack(); };
    ABSL_ASSIGN_OR_RETURN(berth::AgentResult end, object->run->Drive(deadline));
    return PutAgentResult(std::move(end), result);
  });
}

int32_t berth_agent_run_result(berth_agent_result** result, berth_agent_run* run,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(result, "result"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    return PutAgentResult(object->run->result(), result);
  });
}

int32_t berth_agent_run_stop(berth_agent_run* run, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    object->run->Stop();
    return absl::OkStatus();
  });
}

const char* berth_agent_run_id(const berth_agent_run* run, size_t* size) {
  const std::shared_ptr<AgentRunObject> object = Handles::Find<AgentRunObject>(run);
  return GiveText(object == nullptr ? nullptr : &object->run->run_id(), size);
}

const char* berth_agent_run_session_name(const berth_agent_run* run, size_t* size) {
  const std::shared_ptr<AgentRunObject> object = Handles::Find<AgentRunObject>(run);
  return GiveText(object == nullptr ? nullptr : &object->run->session_name(), size);
}

int32_t berth_agent_run_subscribe(berth_agent_subscription** subscription, berth_agent_run* run,
                                  int64_t from, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(subscription, "subscription"));
    if (from < 0) return NoSuch("event", from);
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentRunObject>(run, "run"));
    auto made = std::make_shared<AgentSubscriptionObject>();
    {
      absl::MutexLock lock(made->mutex);
      ABSL_ASSIGN_OR_RETURN(made->subscription, object->run->Subscribe(from));
    }
    return Put(std::move(made), subscription);
  });
}

int32_t berth_agent_subscription_fd(int32_t* fd, berth_agent_subscription* subscription,
                                    berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object,
                          Get<AgentSubscriptionObject>(subscription, "subscription"));
    absl::MutexLock lock(object->mutex);
    return PutFdCopy(object->subscription->fd(), fd);
  });
}

int32_t berth_agent_subscription_next(berth_agent_event** event, int64_t* missed,
                                      berth_agent_subscription* subscription, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(event, "event"));
    ABSL_ASSIGN_OR_RETURN(const auto object,
                          Get<AgentSubscriptionObject>(subscription, "subscription"));
    auto place = std::make_shared<AgentEventObject>();
    int64_t lost = 0;
    {
      absl::MutexLock lock(object->mutex);
      place->event = NextOf(*object->subscription, &lost);
    }
    berth_agent_event* made = nullptr;
    if (place->event != nullptr) {
      ABSL_RETURN_IF_ERROR(Put(std::move(place), &made));
    }
    if (missed != nullptr) *missed = lost;
    *event = made;
    return absl::OkStatus();
  });
}

int32_t berth_agent_subscription_ended(const berth_agent_subscription* subscription) {
  const auto object = Handles::Find<AgentSubscriptionObject>(subscription);
  if (object == nullptr) return -1;
  absl::MutexLock lock(object->mutex);
  return object->subscription->ended();
}

int64_t berth_agent_subscription_position(const berth_agent_subscription* subscription) {
  const auto object = Handles::Find<AgentSubscriptionObject>(subscription);
  if (object == nullptr) return -1;
  absl::MutexLock lock(object->mutex);
  return object->subscription->position();
}

void berth_agent_subscription_free(berth_agent_subscription* subscription) {
  Handles::Remove<AgentSubscriptionObject>(subscription);
}
