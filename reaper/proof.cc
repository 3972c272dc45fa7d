#include "reaper/proof.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"
#include "runtime/remains/end_processes.h"
#include "runtime/remains/tokens.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/proc.h"

namespace berth::reaper {
namespace {

constexpr absl::Duration kExitTime = absl::Seconds(2);

bool HasOpen(pid_t pid, const struct stat& folder) {
  std::error_code error;
  for (const auto& fd :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/fd"), error)) {
    struct stat file;
    if (stat(fd.path().c_str(), &file) == 0 && file.st_dev == folder.st_dev &&
        file.st_ino == folder.st_ino) {
      return true;
    }
  }
  return false;
}

bool IsInGroup(pid_t pid, const Record& record) {
  if (record.cgroup.empty() || !IsCgroupOf(record, record.cgroup)) return false;
  const std::string group = launcher::CgroupOf(pid);
  return group == record.cgroup || absl::StartsWith(group, record.cgroup + "/");
}

// Runs `proves` on a process that is there before and after; fine if it is gone.
template <typename Proves>
absl::Status Prove(const char* what, const Identity& identity, Proves proves) {
  if (identity.pid == 0) return absl::OkStatus();
  const absl::StatusOr<UniqueFd> pidfd = OpenProcess(identity);
  if (absl::IsNotFound(pidfd.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(pidfd.status());
  if (proves(static_cast<pid_t>(identity.pid))) return absl::OkStatus();
  // One that is on its way out has neither files nor an environment any more.
  if (WaitFd(pidfd->get(), POLLIN, absl::Now() + kExitTime, "").ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the record's ", what, ", process ", identity.pid, ", cannot be proven to be the session's"));
}

}  // namespace

absl::Status ProveProcesses(const Store& store, const Record& record) {
  struct stat folder = {};
  bool have_folder = false;
  if (const absl::StatusOr<UniqueFd> dir = store.OpenSessionDir(record.uid); dir.ok()) {
    have_folder = fstat(dir->get(), &folder) == 0;
  }
  bool keeper_lives = false;
  ABSL_RETURN_IF_ERROR(Prove("keeper", record.keeper, [&](pid_t pid) {
    keeper_lives = have_folder && HasOpen(pid, folder);
    return keeper_lives;
  }));
  const auto is_ours = [&](pid_t pid) {
    if (IsInGroup(pid, record) || HasToken(pid, record.token)) return true;
    launcher::ProcStat stat;
    return keeper_lives && launcher::ReadProcStat(pid, &stat) && stat.parent == record.keeper.pid;
  };
  ABSL_RETURN_IF_ERROR(Prove("main process", record.leader, is_ours));
  return Prove("first process of a pid namespace", record.pid_namespace_init, is_ours);
}

}  // namespace berth::reaper
