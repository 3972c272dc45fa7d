// Logs of agents' runs.

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "capi/agent_objects.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/agent/event_log.h"

namespace berth::capi {
namespace {

struct AgentLogObject {
  static constexpr Kind kKind = Kind::kAgentLog;
  explicit AgentLogObject(std::unique_ptr<EventLogReader> open)
      : header(open->header()), reader(std::move(open)) {}
  const RunHeader header;
  absl::Mutex mutex;  // a reader is for one thread at a time
  const std::unique_ptr<EventLogReader> reader ABSL_PT_GUARDED_BY(mutex);
};

const std::string* TextOf(const RunHeader& header, int32_t field) {
  switch (field) {
    case BERTH_AGENT_LOG_RUN_ID:
      return &header.run_id;
    case BERTH_AGENT_LOG_SESSION_NAME:
      return &header.name;
    case BERTH_AGENT_LOG_AGENT:
      return &header.agent;
    case BERTH_AGENT_LOG_AGENT_NAME:
      return &header.agent_name;
    case BERTH_AGENT_LOG_STORY_ID:
      return &header.story_id;
  }
  return nullptr;
}

}  // namespace
}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc

int32_t berth_agent_log_list(berth_strings** runs, const char* state_dir, size_t state_dir_size,
                             berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(runs, "runs"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view dir,
                          Text(state_dir, state_dir_size, "state_dir"));
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> all, berth::ListRuns(std::string(dir)));
    return PutStrings(std::move(all), runs);
  });
}

int32_t berth_agent_log_open(berth_agent_log** log, const char* state_dir, size_t state_dir_size,
                             const char* run, size_t run_size, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(log, "log"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view dir,
                          Text(state_dir, state_dir_size, "state_dir"));
    ABSL_ASSIGN_OR_RETURN(const absl::string_view id, Text(run, run_size, "run"));
    ABSL_ASSIGN_OR_RETURN(auto reader, berth::EventLogReader::Open(std::string(dir), id));
    return Put(std::make_shared<AgentLogObject>(std::move(reader)), log);
  });
}

int32_t berth_agent_log_fd(int32_t* fd, berth_agent_log* log, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(fd, "fd"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentLogObject>(log, "log"));
    absl::MutexLock lock(object->mutex);
    return PutFdCopy(object->reader->fd(), fd);
  });
}

int32_t berth_agent_log_next(berth_agent_event** event, berth_agent_log* log, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(event, "event"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentLogObject>(log, "log"));
    absl::MutexLock lock(object->mutex);
    ABSL_ASSIGN_OR_RETURN(auto next, object->reader->Next());
    return PutAgentEvent(std::move(next), event);
  });
}

int32_t berth_agent_log_end(berth_agent_result** result, berth_agent_log* log,
                            berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(result, "result"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<AgentLogObject>(log, "log"));
    absl::MutexLock lock(object->mutex);
    if (object->reader->end().has_value()) return PutAgentResult(*object->reader->end(), result);
    *result = nullptr;
    return absl::OkStatus();
  });
}

int32_t berth_agent_log_abandoned(berth_agent_log* log) {
  const std::shared_ptr<AgentLogObject> object = Handles::Find<AgentLogObject>(log);
  if (object == nullptr) return -1;
  absl::MutexLock lock(object->mutex);
  return object->reader->abandoned();
}

const char* berth_agent_log_text(const berth_agent_log* log, int32_t field, size_t* size) {
  const std::shared_ptr<AgentLogObject> object = Handles::Find<AgentLogObject>(log);
  return GiveText(object == nullptr ? nullptr : TextOf(object->header, field), size);
}

int64_t berth_agent_log_number(const berth_agent_log* log, int32_t field) {
  const std::shared_ptr<AgentLogObject> object = Handles::Find<AgentLogObject>(log);
  if (object == nullptr) return -1;
  absl::MutexLock lock(object->mutex);
  switch (field) {
    case BERTH_AGENT_LOG_STARTED_UNIX_NS:
      return absl::ToUnixNanos(object->header.started);
    case BERTH_AGENT_LOG_UNREADABLE:
      return object->reader->unreadable_lines();
  }
  return -1;
}

void berth_agent_log_free(berth_agent_log* log) { Handles::Remove<AgentLogObject>(log); }
