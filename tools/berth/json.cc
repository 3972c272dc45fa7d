#include "tools/berth/json.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/session.h"
#include "runtime/types.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

Json Time(absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return nullptr;
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

Json Known(int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

}  // namespace

Json ToJson(const ExitStatus& status) {
  const std::optional<int> code = ExitCodeOf(status);
  const bool signaled = status.signal != 0, seen = code.has_value();
  return {{"code", !seen || signaled ? Json(nullptr) : Json(status.code)},
          {"signal", signaled ? Json(status.signal) : Json(nullptr)},
          {"reason", EndReasonName(status.reason)},
          {"exit_code", seen ? Json(*code) : Json(nullptr)},
          {"description", Describe(status)}};
}

Json ToJson(const SessionInfo& info) {
  Json labels = Json::object();
  for (const auto& [key, value] : info.labels) labels[key] = value;
  return {{"name", info.name},
          {"handle", info.handle},
          {"state", SessionStateName(info.state)},
          {"backend", info.backend},
          {"pid", info.pid > 0 ? Json(info.pid) : Json(nullptr)},
          {"created", Time(info.created)},
          {"last_output", Time(info.last_output)},
          {"output_bytes", info.output_bytes},
          {"exit", info.state == SessionState::kExited ? ToJson(info.exit) : Json(nullptr)},
          {"durable", info.durable},
          {"terminal",
           info.pty ? Json{{"rows", info.size.rows}, {"cols", info.size.cols}} : Json(nullptr)},
          {"attached", info.attached},
          {"title", info.title},
          {"cwd", info.cwd},
          {"log", info.log_path.empty() ? Json(nullptr) : Json(info.log_path)},
          {"tree", info.tree},
          {"labels", labels}};
}

Json ToJson(const Stats& stats) {
  return {{"cpu_seconds", absl::ToDoubleSeconds(stats.cpu)},
          {"memory_bytes", Known(stats.memory_bytes)},
          {"processes", Known(stats.processes)},
          {"read_bytes", Known(stats.read_bytes)},
          {"write_bytes", Known(stats.write_bytes)},
          {"source", stats.source}};
}

absl::Status PrintJson(const Json& json) {
  return Print(absl::StrCat(json.dump(2, ' ', false, Json::error_handler_t::replace), "\n"));
}

}  // namespace berth::cli
