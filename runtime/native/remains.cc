#include "runtime/native/remains.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "runtime/native/native_process.h"
#include "runtime/record/identity.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/end_group.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/proc.h"

namespace berth {
namespace {

constexpr absl::Duration kKillTime = absl::Seconds(10);

absl::Status KillProcess(const Identity& identity) {
  if (identity.pid == 0) return absl::OkStatus();
  const absl::StatusOr<UniqueFd> pidfd = OpenProcess(identity);
  if (absl::IsNotFound(pidfd.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(pidfd.status());
  if (launcher::PidfdSignal(pidfd->get(), SIGKILL) != 0 && errno != ESRCH) {
    return ErrnoStatus(errno, absl::StrCat("kill process ", identity.pid));
  }
  return WaitFd(pidfd->get(), POLLIN, absl::Now() + kKillTime, "wait for a killed process");
}

absl::Status KillGroup(const Record& record) {
  if (record.cgroup.empty()) return absl::OkStatus();
  // The group carries the session's own id, which is never used twice: another's cannot have this
  // name.
  if (!absl::EndsWith(record.cgroup, absl::StrCat("/berth-", record.uid))) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cgroup '", record.cgroup, "' in the record of ", record.name, " is not that session's"));
  }
  return launcher::EndGroup(record.cgroup);
}

bool HasEntry(const std::string& environ, const std::string& entry) {
  for (absl::string_view each : absl::StrSplit(environ, '\0')) {
    if (each == entry) return true;
  }
  return false;
}

// Without a cgroup, what was below a killed keeper belongs to init now. It is known by the
// session's token, which is in the environment of everything that the session started, unless a
// program took care to clear its own.
absl::Status KillByToken(const Record& record) {
  if (record.tree != kTreeSubreaper) return absl::OkStatus();
  const std::string entry = absl::StrCat("BERTH_TOKEN=", record.token);
  const absl::Time deadline = absl::Now() + kKillTime;
  for (bool found = true; found;) {
    found = false;
    std::error_code error;
    for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
      pid_t pid;
      if (!absl::SimpleAtoi(process.path().filename().string(), &pid) || pid == getpid()) continue;
      const UniqueFd pidfd(launcher::PidfdOpen(pid));
      if (!pidfd.ok() ||
          !HasEntry(launcher::ReadSmallFile(absl::StrCat("/proc/", pid, "/environ").c_str()),
                    entry)) {
        continue;
      }
      // If it has not ended by now, the number was its own all the while.
      if (WaitFd(pidfd.get(), POLLIN, absl::InfinitePast(), "").ok()) continue;
      found = true;
      launcher::PidfdSignal(pidfd.get(), SIGKILL);
      ABSL_RETURN_IF_ERROR(WaitFd(pidfd.get(), POLLIN, deadline, "wait for a killed process"));
    }
  }
  return absl::OkStatus();
}

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
  ABSL_RETURN_IF_ERROR(KillProcess(record.keeper));
  ABSL_RETURN_IF_ERROR(KillProcess(record.leader));
  ABSL_RETURN_IF_ERROR(KillGroup(record));
  ABSL_RETURN_IF_ERROR(KillByToken(record));
  if (unlinkat(store.dir().run_fd(), record.uid.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, absl::StrCat("remove the socket of ", record.name));
  }
  return store.Remove(record.uid);
}

}  // namespace berth
