// What is known of sessions, and the small values that calls give.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capi/berth.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/objects.h"
#include "runtime/session.h"
#include "runtime/types.h"

namespace berth::capi {
namespace {

struct InfosObject {
  static constexpr Kind kKind = Kind::kInfos;
  std::vector<SessionInfo> infos;
};

// With a reason of ours, whatever came in.
ExitStatus StatusOf(const berth_exit& status) {
  const bool known = status.reason >= BERTH_END_UNKNOWN && status.reason <= BERTH_END_VIOLATION;
  return {status.code, status.signal,
          known ? static_cast<EndReason>(status.reason) : EndReason::kUnknown};
}

// Null past the end. Lives as long as the object.
const SessionInfo* InfoAt(const std::shared_ptr<InfosObject>& object, size_t index) {
  return object != nullptr && index < object->infos.size() ? &object->infos[index] : nullptr;
}

const std::string* TextOf(const SessionInfo& info, int32_t field) {
  switch (field) {
    case BERTH_INFO_HANDLE:
      return &info.handle;
    case BERTH_INFO_NAME:
      return &info.name;
    case BERTH_INFO_BACKEND:
      return &info.backend;
    case BERTH_INFO_CWD:
      return &info.cwd;
    case BERTH_INFO_TREE:
      return &info.tree;
    case BERTH_INFO_TITLE:
      return &info.title;
    case BERTH_INFO_LOG_PATH:
      return &info.log_path;
    case BERTH_INFO_TIER:
      return &info.tier;
    case BERTH_INFO_ADDRESS:
      return &info.address;
  }
  return nullptr;
}

int64_t StateOf(SessionState state) {
  switch (state) {
    case SessionState::kStarting:
      return BERTH_STATE_STARTING;
    case SessionState::kRunning:
      return BERTH_STATE_RUNNING;
    case SessionState::kExited:
      return BERTH_STATE_EXITED;
    case SessionState::kUnknown:
      break;
  }
  return BERTH_STATE_UNKNOWN;
}

int64_t UnixNanos(absl::Time time) {
  return time == absl::InfinitePast() ? -1 : absl::ToUnixNanos(time);
}

int64_t NumberOf(const SessionInfo& info, int32_t field) {
  switch (field) {
    case BERTH_INFO_STATE:
      return StateOf(info.state);
    case BERTH_INFO_PID:
      return info.pid;
    case BERTH_INFO_DURABLE:
      return info.durable ? 1 : 0;
    case BERTH_INFO_PTY:
      return info.pty ? 1 : 0;
    case BERTH_INFO_ROWS:
      return info.size.rows;
    case BERTH_INFO_COLS:
      return info.size.cols;
    case BERTH_INFO_ATTACHED:
      return info.attached;
    case BERTH_INFO_OUTPUT_BYTES:
      return info.output_bytes;
    case BERTH_INFO_CREATED_UNIX_NS:
      return UnixNanos(info.created);
    case BERTH_INFO_LAST_OUTPUT_UNIX_NS:
      return UnixNanos(info.last_output);
    case BERTH_INFO_VIOLATIONS:
      return info.violations;
  }
  return -1;
}

}  // namespace

absl::Status PutInfos(std::vector<SessionInfo> infos, berth_infos** out) {
  *out = Handles::Add<berth_infos>(std::make_shared<InfosObject>(InfosObject{std::move(infos)}));
  return absl::OkStatus();
}

absl::Status PutExit(const absl::StatusOr<ExitStatus>& status, berth_exit* out) {
  if (!status.ok()) return status.status();
  if (out != nullptr) {
    *out = {status->code, status->signal, static_cast<int32_t>(status->reason), 0};
  }
  return absl::OkStatus();
}

absl::Status PutStats(const absl::StatusOr<Stats>& stats, berth_stats* out) {
  if (!stats.ok()) return stats.status();
  berth_stats filled = {};
  filled.cpu_ns = absl::ToInt64Nanoseconds(stats->cpu);
  filled.memory_bytes = stats->memory_bytes;
  filled.processes = stats->processes;
  filled.read_bytes = stats->read_bytes;
  filled.write_bytes = stats->write_bytes;
  memcpy(filled.source, stats->source.data(),
         std::min(stats->source.size(), sizeof(filled.source) - 1));
  *out = filled;
  return absl::OkStatus();
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: see spec.cc
using ::berth::SessionInfo;

int32_t berth_exit_describe(berth_string** text, const berth_exit* status, berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(text, "text"));
    if (status == nullptr) return NoObject(nullptr, "status");
    return PutString(berth::Describe(StatusOf(*status)), text);
  });
}

int32_t berth_exit_success(const berth_exit* status) {
  return status != nullptr && StatusOf(*status).success() ? 1 : 0;
}

int32_t berth_exit_shell_code(const berth_exit* status) {
  return status == nullptr ? -1 : StatusOf(*status).ShellCode();
}

size_t berth_infos_count(const berth_infos* infos) {
  const std::shared_ptr<InfosObject> object = Handles::Find<InfosObject>(infos);
  return object == nullptr ? 0 : object->infos.size();
}

const char* berth_infos_text(const berth_infos* infos, size_t index, int32_t field, size_t* size) {
  const std::shared_ptr<InfosObject> object = Handles::Find<InfosObject>(infos);
  const SessionInfo* const info = InfoAt(object, index);
  return GiveText(info == nullptr ? nullptr : TextOf(*info, field), size);
}

int64_t berth_infos_number(const berth_infos* infos, size_t index, int32_t field) {
  const std::shared_ptr<InfosObject> object = Handles::Find<InfosObject>(infos);
  const SessionInfo* const info = InfoAt(object, index);
  return info == nullptr ? -1 : NumberOf(*info, field);
}

int32_t berth_infos_exit(berth_exit* status, const berth_infos* infos, size_t index,
                         berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(status, "status"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<InfosObject>(infos, "infos"));
    const SessionInfo* const info = InfoAt(object, index);
    if (info == nullptr) return NotInRange(index, "info");
    return PutExit(info->exit, status);
  });
}

const char* berth_infos_label(const berth_infos* infos, size_t index, const char* key,
                              size_t key_size, size_t* size) {
  const std::shared_ptr<InfosObject> object = Handles::Find<InfosObject>(infos);
  const SessionInfo* const info = InfoAt(object, index);
  if (size != nullptr) *size = 0;
  if (info == nullptr || (key == nullptr && key_size != 0)) return nullptr;
  const auto label = info->labels.find(absl::string_view(key, key_size));
  return GiveText(label == info->labels.end() ? nullptr : &label->second, size);
}

int32_t berth_infos_label_keys(berth_strings** keys, const berth_infos* infos, size_t index,
                               berth_error** error) {
  return Guard(error, [&]() -> absl::Status {
    ABSL_RETURN_IF_ERROR(CheckOut(keys, "keys"));
    ABSL_ASSIGN_OR_RETURN(const auto object, Get<InfosObject>(infos, "infos"));
    const SessionInfo* const info = InfoAt(object, index);
    if (info == nullptr) return NotInRange(index, "info");
    std::vector<std::string> all;
    for (const auto& [key, value] : info->labels) all.push_back(key);
    return PutStrings(std::move(all), keys);
  });
}

void berth_infos_free(berth_infos* infos) { Handles::Remove<InfosObject>(infos); }
