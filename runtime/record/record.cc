#include "runtime/record/record.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/record/identity.h"
#include "runtime/record/random_id.h"
#include "runtime/record/session_name.h"

namespace berth {
namespace {

constexpr int64_t kMaxPid = 1 << 22;  // PID_MAX_LIMIT
constexpr size_t kMaxPath = 4096;
constexpr size_t kMaxText = 4096;

absl::Status Refuse(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("record field '", field, "': ", why));
}

bool IsBootId(absl::string_view text) {
  return text.size() == 36 &&
         text.find_first_not_of("0123456789abcdef-") == absl::string_view::npos;
}

absl::Status CheckText(absl::string_view field, absl::string_view text) {
  if (text.size() > kMaxText) return Refuse(field, "it is too long");
  if (text.find('\0') != absl::string_view::npos) return Refuse(field, "it holds a NUL");
  return absl::OkStatus();
}

// Each is something that a reaper may remove one day: it must say one place, and not all of them.
absl::Status CheckPath(absl::string_view field, absl::string_view path) {
  if (path.empty()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(CheckText(field, path));
  if (path.size() >= kMaxPath) return Refuse(field, "the path is too long");
  if (path[0] != '/')
    return Refuse(field, absl::StrCat(ShowText(path), " is not an absolute path"));
  for (const absl::string_view part : absl::StrSplit(path.substr(1), '/')) {
    if (part.empty() || part == "." || part == "..") {
      return Refuse(field, absl::StrCat(ShowText(path), " is not a plain path below /"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProcess(absl::string_view field, const Identity& process, int64_t lowest) {
  if (process == Identity()) return absl::OkStatus();
  if (process.pid < lowest || process.pid > kMaxPid) {
    return Refuse(field, absl::StrCat("pid ", process.pid, " cannot be one of ours"));
  }
  if (!IsBootId(process.boot_id)) return Refuse(field, "it has no boot id");
  return absl::OkStatus();
}

absl::Status CheckBackend(absl::string_view backend) {
  if (backend.empty() || backend.size() > 32)
    return Refuse("backend", "it needs 1 to 32 characters");
  for (const char c : backend) {
    if (!absl::ascii_islower(static_cast<unsigned char>(c)) &&
        !absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      return Refuse("backend", absl::StrCat(ShowText(backend), " is not a backend's name"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRecord(const Record& record) {
  if (record.schema < 1) return Refuse("schema", "it must be at least 1");
  if (!IsHexId(record.install_id)) return Refuse("install_id", "it is not 32 hex digits");
  if (!IsBootId(record.boot_id)) return Refuse("boot_id", "it is not a boot id");
  if (!record.host_id.empty() && !IsHexId(record.host_id)) {
    return Refuse("host_id", "it is not 32 hex digits");
  }
  if (!IsUid(record.uid)) return Refuse("uid", "it is not 26 of [a-z2-7]");
  if (!IsHexId(record.token)) return Refuse("token", "it is not 32 hex digits");
  ABSL_RETURN_IF_ERROR(CheckSessionName(record.name));
  if (!record.renaming_to.empty()) {
    ABSL_RETURN_IF_ERROR(CheckSessionName(record.renaming_to));
  }
  ABSL_RETURN_IF_ERROR(CheckBackend(record.backend));
  if (record.state != kStateStarting && record.state != kStateRunning) {
    return Refuse("state", absl::StrCat(ShowText(record.state), " is not a state"));
  }
  if (record.created_at_unix_ns < 0) return Refuse("created_at_unix_ns", "it is negative");
  if (!CheckSessionName(record.owner_id).ok()) {
    return Refuse("owner_id", absl::StrCat(ShowText(record.owner_id), " is not a lease's name"));
  }
  if (record.owner.pid == 0) return Refuse("owner", "there must be one");
  ABSL_RETURN_IF_ERROR(CheckProcess("owner", record.owner, 1));
  ABSL_RETURN_IF_ERROR(CheckProcess("keeper", record.keeper, 2));
  ABSL_RETURN_IF_ERROR(CheckProcess("leader", record.leader, 2));
  ABSL_RETURN_IF_ERROR(CheckProcess("pid_namespace_init", record.pid_namespace_init, 2));
  if (!record.tree.empty() && record.tree != kTreeCgroup && record.tree != kTreeSubreaper &&
      record.tree != kTreePidNamespace) {
    return Refuse("tree", absl::StrCat(ShowText(record.tree), " is not one of them"));
  }
  ABSL_RETURN_IF_ERROR(CheckText("engine_address", record.engine_address));
  ABSL_RETURN_IF_ERROR(CheckText("container_id", record.container_id));
  ABSL_RETURN_IF_ERROR(CheckText("tmux_session", record.tmux_session));
  ABSL_RETURN_IF_ERROR(CheckPath("cgroup", record.cgroup));
  ABSL_RETURN_IF_ERROR(CheckPath("socket", record.socket));
  ABSL_RETURN_IF_ERROR(CheckPath("tmux_socket", record.tmux_socket));
  ABSL_RETURN_IF_ERROR(CheckPath("log", record.log));
  for (const std::string& path : record.temp_dirs) {
    if (path.empty()) return Refuse("temp_dirs", "a path in it is empty");
    ABSL_RETURN_IF_ERROR(CheckPath("temp_dirs", path));
  }
  ABSL_RETURN_IF_ERROR(CheckText("tier", record.tier));
  for (const std::string& path : record.copy_on_write) {
    if (path.empty()) return Refuse("copy_on_write", "a path in it is empty");
    ABSL_RETURN_IF_ERROR(CheckPath("copy_on_write", path));
  }
  for (const auto& [key, value] : record.labels) {
    if (key.empty()) return Refuse("labels", "a key is empty");
    ABSL_RETURN_IF_ERROR(CheckText("labels", key));
    ABSL_RETURN_IF_ERROR(CheckText("labels", value));
  }
  return absl::OkStatus();
}

}  // namespace berth
