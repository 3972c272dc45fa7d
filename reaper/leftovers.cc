#include "reaper/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reaper/cgroups.h"
#include "reaper/decide.h"
#include "runtime/ports/free_leases.h"
#include "runtime/record/files.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/random_id.h"
#include "runtime/record/record.h"
#include "runtime/remains/end_processes.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth::reaper {
namespace {

// What is younger may be somebody's who is just making it.
constexpr absl::Duration kSettled = absl::Minutes(1);

// Does `act` unless it is a dry run or there is no time, and reports. Whether it was done.
bool Settle(const Scope& scope, Item item, const std::function<absl::Status()>& act,
            Report* report) {
  if (!scope.options.filter.ChoosesUnnamed(item.id)) {
    item.verdict = Verdict::kKeep;
    item.because.push_back("the options do not choose it");
  }
  if (item.verdict == Verdict::kReap && !scope.options.dry_run) {
    if (absl::Now() >= scope.deadline) {
      item.result = Result::kOutOfTime;
    } else {
      item.error = act();
      item.result = item.error.ok() ? Result::kDone : Result::kFailed;
    }
  }
  const bool done = item.result == Result::kDone;
  report->Add(std::move(item), scope.options.show_kept);
  return done;
}

// Not known: as old as can be.
absl::Duration AgeOf(int dir_fd, const std::string& name) {
  struct stat entry;
  if (fstatat(dir_fd, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
    return absl::InfiniteDuration();
  }
  return absl::Now() -
         std::max(absl::TimeFromTimespec(entry.st_ctim), absl::TimeFromTimespec(entry.st_mtim));
}

// Whether only files are in it that a keeper leaves while it removes its session.
bool IsHalfRemoved(const Store& store, const std::string& uid) {
  const absl::StatusOr<UniqueFd> dir = store.OpenSessionDir(uid);
  if (!dir.ok()) return false;
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(dir->get());
  return names.ok() && std::all_of(names->begin(), names->end(), [](const std::string& name) {
           return name == ".lock" || name == ".record.tmp" || name == "exit" || name == "exit.new";
         });
}

bool IsOfNewerBerth(const Store& store, const std::string& entry) {
  const absl::StatusOr<UniqueFd> dir = store.OpenSessionDir(entry);
  if (!dir.ok()) return false;
  const absl::StatusOr<std::string> text =
      ReadSmallFile(dir->get(), "record.json", kMaxRecordBytes);
  return text.ok() && absl::IsFailedPrecondition(FromJson(*text).status());
}

// Whether somebody listens on the socket. What cannot be found out is taken for a yes.
bool IsListening(int run_fd, const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = absl::StrCat("/proc/self/fd/", run_fd, "/", name);
  if (path.size() >= sizeof(address.sun_path)) return true;
  memcpy(address.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.ok()) return true;
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
         errno != ECONNREFUSED;
}

}  // namespace

void SweepBroken(const Scope& scope, const std::vector<BrokenRecord>& broken, Report* report) {
  for (const BrokenRecord& each : broken) {
    struct stat entry;
    if (fstatat(scope.store.dir().sessions_fd(), each.entry.c_str(), &entry, AT_SYMLINK_NOFOLLOW) !=
        0) {
      continue;  // its keeper was just removing it
    }
    Item item{.kind = "record", .id = each.entry, .verdict = Verdict::kReap};
    item.evidence.push_back(std::string(each.why.message()));
    std::function<absl::Status()> act = [&]() -> absl::Status {
      const absl::Status moved = scope.store.Quarantine(each.entry);
      return absl::IsNotFound(moved) ? absl::OkStatus() : moved;  // removed meanwhile
    };
    item.deed = "quarantined";
    if (absl::IsFailedPrecondition(each.why) && IsOfNewerBerth(scope.store, each.entry)) {
      item.verdict = Verdict::kKeep;
      item.because.push_back("a newer berth wrote it");
    } else if (absl::IsNotFound(each.why) && IsHalfRemoved(scope.store, each.entry)) {
      item.deed = "removed";
      item.because.push_back("its record is gone: whoever was removing it did not finish");
      act = [&] { return scope.store.Remove(each.entry); };
    } else if (AgeOf(scope.store.dir().sessions_fd(), each.entry) < kSettled &&
               absl::IsNotFound(each.why)) {
      item.verdict = Verdict::kKeep;
      item.because.push_back("its record is gone, but not for long: somebody may be removing it");
    } else {
      item.because.push_back("it is not a record that can be trusted");
    }
    Settle(scope, std::move(item), act, report);
  }
}

void SweepLeases(const Scope& scope, Report* report) {
  const StateDir& dir = scope.store.dir();
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(dir.owners_fd());
  if (!names.ok()) {
    report->Add({.kind = "lease",
                 .id = dir.path() + "/owners",
                 .result = Result::kFailed,
                 .error = names.status()},
                true);
    return;
  }
  for (const std::string& name : *names) {
    const LeaseState state = ProbeLease(dir, name);
    if (state != LeaseState::kFree) continue;
    Item item{.kind = "lease", .id = name, .verdict = Verdict::kReap, .deed = "removed"};
    const absl::StatusOr<std::string> text = ReadSmallFile(dir.owners_fd(), name, 4096);
    const absl::StatusOr<Identity> owner =
        text.ok() ? IdentityFromJson(*text) : absl::StatusOr<Identity>(text.status());
    if (owner.ok()) {
      const Liveness liveness = CheckIdentity(*owner);
      item.evidence.push_back(
          absl::StrCat("owner process ", owner->pid, ": ", LivenessName(liveness), "; lock: free"));
      if (liveness == Liveness::kAlive) continue;  // just letting go of it
      if (liveness == Liveness::kUnknown) {
        item.verdict = Verdict::kKeep;
        item.because.push_back("whether its owner lives cannot be seen from here");
      } else {
        item.because.push_back("nobody holds it, and its owner has ended");
      }
    } else {
      // Whoever is just taking it finds out, once it has the lock, that it has to make another.
      item.because.push_back("nobody holds it, and it names no owner");
    }
    Settle(scope, std::move(item), [&] { return RemoveFreeLease(dir, name); }, report);
  }
}

void SweepPorts(const Scope& scope, Report* report) {
  const absl::StatusOr<UniqueFd> dir = OpenFolder(scope.store.dir().root_fd(), "ports");
  if (!dir.ok()) return;
  const absl::StatusOr<std::vector<std::string>> ports = FreePortLeases(dir->get());
  if (!ports.ok()) return;
  for (const std::string& port : *ports) {
    Item item{.kind = "port", .id = port, .verdict = Verdict::kReap, .deed = "released"};
    item.because.push_back("nobody holds its lease");
    Settle(scope, std::move(item), [&] { return RemoveFreePortLease(dir->get(), port); }, report);
  }
}

void SweepSockets(const Scope& scope, const absl::flat_hash_set<std::string>& known,
                  Report* report) {
  const StateDir& dir = scope.store.dir();
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(dir.run_fd());
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    struct stat entry;
    if (known.contains(name) || !IsUid(name) ||
        fstatat(dir.run_fd(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISSOCK(entry.st_mode) || entry.st_uid != geteuid() ||
        AgeOf(dir.run_fd(), name) < kSettled ||
        !absl::IsNotFound(scope.store.OpenSessionDir(name).status()) ||
        IsListening(dir.run_fd(), name)) {
      continue;
    }
    Item item{.kind = "socket", .id = name, .verdict = Verdict::kReap, .deed = "removed"};
    item.because.push_back("nobody listens on it, and its session has no record");
    Settle(
        scope, std::move(item),
        [&] {
          return unlinkat(dir.run_fd(), name.c_str(), 0) == 0 || errno == ENOENT
                     ? absl::OkStatus()
                     : ErrnoStatus(errno, absl::StrCat("remove socket ", name));
        },
        report);
  }
}

bool SweepCgroups(const Scope& scope, const std::vector<FoundCgroup>& groups,
                  absl::flat_hash_set<std::string>* told, Report* report) {
  bool ended = false;
  for (const FoundCgroup& group : groups) {
    const Identity launcher =
        LauncherOf(group.name, scope.store.dir().install_id(), scope.here.boot_id);
    if (launcher.pid == 0 || group.owner != geteuid() || told->contains(group.path)) continue;
    const Liveness liveness = CheckIdentity(launcher);
    if (liveness == Liveness::kAlive) report->living.push_back(launcher);
    if (liveness != Liveness::kDead || IsHeld(group)) continue;
    Item item{.kind = "cgroup", .id = group.path, .verdict = Verdict::kReap, .deed = "ended"};
    item.evidence.push_back(absl::StrCat("launcher process ", launcher.pid, " (start time ",
                                         launcher.start_time, "): dead; lock: free"));
    item.because.push_back("it was to end with its launcher, which has ended");
    if (scope.here.cgroup == group.path || scope.here.cgroup.starts_with(group.path + "/")) {
      item.verdict = Verdict::kDoubt;
      item.because.push_back("the reaper itself runs in it");
    }
    const auto end = [&] {
      return EndCgroup(
          group.path,
          {.deadline = std::min(scope.deadline, absl::Now() + scope.options.time_per_object)});
    };
    if (Settle(scope, std::move(item), end, report)) {
      ended = true;
    } else {
      told->insert(group.path);
    }
  }
  return ended;
}

}  // namespace berth::reaper
