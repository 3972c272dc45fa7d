#include "runtime/native/remains.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/native/native_process.h"
#include "runtime/record/identity.h"
#include "runtime/remains/end_processes.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/proc.h"

namespace berth {
namespace {

constexpr absl::Duration kKillTime = absl::Seconds(10);

}  // namespace

absl::StatusOr<ExitStatus> EndOfRemains(const Store& store, const Record& record) {
  if (record.leader.pid != 0 && CheckIdentity(record.leader) != Liveness::kDead) {
    return absl::UnavailableError(
        absl::StrCat("session ", record.name,
                     " has lost its keeper, but its main process may still run; remove it"));
  }
  ABSL_ASSIGN_OR_RETURN(const UniqueFd dir, store.OpenSessionDir(record.uid));
  const UniqueFd file(openat(dir.get(), "exit", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.ok()) return ExitStatus{};
  const auto json =
      nlohmann::json::parse(launcher::ReadAllFrom(file.get()), nullptr, /*allow_exceptions=*/false);
  launcher::ExitNotice notice;
  const auto number = [&json](const char* key) {
    const auto it = json.is_object() ? json.find(key) : json.end();
    return it != json.end() && it->is_number_integer() ? it->get<int>() : -1;
  };
  if (!json.is_object() || number("code") < 0 || number("signal") < 0) return ExitStatus{};
  notice.code = number("code");
  notice.signal = number("signal");
  notice.reason = static_cast<uint8_t>(number("reason"));
  const auto stopped = json.find("stopped");
  notice.stopped = stopped != json.end() && stopped->is_boolean() && stopped->get<bool>();
  return ToExitStatus(notice);
}

absl::Status RemoveRemains(const Store& store, const Record& record) {
  ABSL_RETURN_IF_ERROR(EndProcesses(record, {.deadline = absl::Now() + kKillTime}));
  if (unlinkat(store.dir().run_fd(), record.uid.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("remove the socket of ", record.name));
  }
  return store.Remove(record.uid);
}

}  // namespace berth
