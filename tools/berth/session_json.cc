#include "tools/berth/session_json.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/session.h"
#include "runtime/types.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/json.h"
#include "tools/berth/output.h"

namespace berth::cli {
namespace {

Json TimeJson(absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return nullptr;
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

Json Known(int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }
Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

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
  std::vector<Json::Member> labels;
  for (const auto& [key, value] : info.labels) labels.push_back({key, value});
  const Json size = {{"rows", info.size.rows}, {"cols", info.size.cols}};
  return {{"name", info.name},
          {"handle", info.handle},
          {"state", SessionStateName(info.state)},
          {"backend", info.backend},
          {"pid", info.pid > 0 ? Json(info.pid) : Json(nullptr)},
          {"created", TimeJson(info.created)},
          {"last_output", TimeJson(info.last_output)},
          {"output_bytes", info.output_bytes},
          {"exit", info.state == SessionState::kExited ? ToJson(info.exit) : Json(nullptr)},
          {"durable", info.durable},
          {"terminal", info.pty ? size : Json(nullptr)},
          {"attached", info.attached},
          {"title", info.title},
          {"cwd", info.cwd},
          {"log", TextOrNull(info.log_path)},
          {"tree", info.tree},
          {"tier", TextOrNull(info.tier)},
          {"violations", info.violations},
          {"labels", Json::Object(labels)}};
}

Json ToJson(absl::string_view name, const Stats& stats) {
  return {{"name", name},
          {"cpu_seconds", absl::ToDoubleSeconds(stats.cpu)},
          {"memory_bytes", Known(stats.memory_bytes)},
          {"processes", Known(stats.processes)},
          {"read_bytes", Known(stats.read_bytes)},
          {"write_bytes", Known(stats.write_bytes)},
          {"source", stats.source}};
}

absl::Status PrintJson(const Json& json) { return Print(absl::StrCat(json.Pretty(), "\n")); }

}  // namespace berth::cli
