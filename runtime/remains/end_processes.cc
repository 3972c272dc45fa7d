#include "runtime/remains/end_processes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"
#include "runtime/remains/tokens.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/end_group.h"
#include "sandbox/launcher/kernel.h"

namespace berth {
namespace {

constexpr char kWaitKilled[] = "wait for a killed process";

// Not ok(): there is none, or it is gone.
absl::StatusOr<UniqueFd> Open(const Identity& identity) {
  if (identity.pid == 0) return UniqueFd();
  absl::StatusOr<UniqueFd> pidfd = OpenProcess(identity);
  if (absl::IsNotFound(pidfd.status())) return UniqueFd();
  return pidfd;
}

absl::Status Kill(int pidfd, absl::Time deadline) {
  if (launcher::PidfdSignal(pidfd, SIGKILL) != 0 && errno != ESRCH) {
    return ErrnoStatus(errno, "kill a process of the session");
  }
  return WaitFd(pidfd, POLLIN, deadline, kWaitKilled);
}

// TERM, which takes effect on a stopped one only with CONT.
void Ask(int pidfd) {
  launcher::PidfdSignal(pidfd, SIGTERM);
  launcher::PidfdSignal(pidfd, SIGCONT);
}

// Until nobody is in it, or until then.
bool WaitUntilEmpty(const launcher::Cgroup& group, absl::Time until) {
  while (!group.Empty()) {
    if (!WaitFd(group.events_fd(), POLLPRI, until, "").ok()) return group.Empty();
  }
  return true;
}

void AskGroup(const launcher::Cgroup& group, absl::Time until) {
  group.Signal(SIGTERM);
  group.Signal(SIGCONT);
  WaitUntilEmpty(group, until);
}

}  // namespace

bool IsCgroupOf(const Record& record, const std::string& path) {
  return absl::EndsWith(path, absl::StrCat("/berth-", record.uid));
}

absl::Status EndProcessesWith(absl::string_view entry, const EndOptions& options) {
  if (options.grace > absl::ZeroDuration()) {
    const std::vector<UniqueFd> asked = ProcessesWithEntry(entry);
    const absl::Time until = std::min(absl::Now() + options.grace, options.deadline);
    for (const UniqueFd& each : asked) Ask(each.get());
    for (const UniqueFd& each : asked) WaitFd(each.get(), POLLIN, until, "").IgnoreError();
  }
  // Each pass finds what was born since the last.
  while (true) {
    const std::vector<UniqueFd> found = ProcessesWithEntry(entry);
    if (found.empty()) return absl::OkStatus();
    for (const UniqueFd& pidfd : found) launcher::PidfdSignal(pidfd.get(), SIGKILL);
    for (const UniqueFd& pidfd : found) {
      ABSL_RETURN_IF_ERROR(WaitFd(pidfd.get(), POLLIN, options.deadline, kWaitKilled));
    }
  }
}

absl::Status EndCgroup(const std::string& path, const EndOptions& options) {
  if (options.grace > absl::ZeroDuration()) {
    const launcher::Cgroup group = launcher::Cgroup::Open(path);
    if (group.ok() && !group.Empty()) {
      AskGroup(group, std::min(absl::Now() + options.grace, options.deadline));
    }
  }
  return launcher::EndGroup(path, options.deadline - absl::Now());
}

absl::Status EndProcesses(const Record& record, const EndOptions& options) {
  if (!record.cgroup.empty() && !IsCgroupOf(record, record.cgroup)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cgroup '", record.cgroup, "' in the record of ", record.name, " is not that session's"));
  }
  const bool gently = options.grace > absl::ZeroDuration();
  const auto until = [&options] { return std::min(absl::Now() + options.grace, options.deadline); };

  ABSL_ASSIGN_OR_RETURN(const UniqueFd keeper, Open(record.keeper));
  if (keeper.ok()) {
    if (gently) WaitFd(keeper.get(), POLLIN, until(), "").IgnoreError();
    ABSL_RETURN_IF_ERROR(Kill(keeper.get(), options.deadline));
  }
  std::vector<UniqueFd> roots;
  for (const Identity* identity : {&record.leader, &record.pid_namespace_init}) {
    ABSL_ASSIGN_OR_RETURN(UniqueFd root, Open(*identity));
    if (root.ok()) roots.push_back(std::move(root));
  }
  const bool by_token = record.tree == kTreeSubreaper;
  if (gently) {
    const launcher::Cgroup group = launcher::Cgroup::Open(record.cgroup);
    std::vector<UniqueFd> asked;
    if (by_token) asked = ProcessesWithToken(record.token);
    if (group.ok() && !group.Empty()) {
      AskGroup(group, until());
    } else {
      for (const UniqueFd& root : roots) Ask(root.get());
      for (const UniqueFd& each : asked) Ask(each.get());
      const absl::Time end = until();
      for (const UniqueFd& root : roots) WaitFd(root.get(), POLLIN, end, "").IgnoreError();
      for (const UniqueFd& each : asked) WaitFd(each.get(), POLLIN, end, "").IgnoreError();
    }
  }
  for (const UniqueFd& root : roots) ABSL_RETURN_IF_ERROR(Kill(root.get(), options.deadline));
  ABSL_RETURN_IF_ERROR(
      EndCgroup(record.cgroup.empty() ? absl::StrCat("/berth-", record.uid) : record.cgroup,
                {.deadline = options.deadline}));
  // Those that a keeper held.
  return by_token ? EndProcessesWith(absl::StrCat("BERTH_TOKEN=", record.token),
                                     {.deadline = options.deadline})
                  : absl::OkStatus();
}

}  // namespace berth
