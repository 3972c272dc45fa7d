#include "reaper/tmux_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reaper/tmux_command.h"
#include "runtime/record/files.h"
#include "runtime/record/identity.h"
#include "runtime/record/lease.h"
#include "runtime/record/random_id.h"
#include "runtime/record/state_dir.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/wire.h"

namespace berth::reaper {
namespace {

constexpr absl::Duration kAnswer = absl::Seconds(10);
constexpr absl::Duration kLastTime = absl::Seconds(2);
constexpr char kSocket[] = "tmux", kLock[] = "tmux.lock";

// "=": that name exactly.
absl::StatusOr<int> OfSession(const Record& record, const char* command, absl::Time deadline) {
  ABSL_ASSIGN_OR_RETURN(
      const Answer answer,
      Tmux(record.tmux_socket, {command, "-t", absl::StrCat("=", record.tmux_session)}, deadline));
  return answer.code;
}

absl::StatusOr<Answer> ListSessions(const std::string& socket) {
  return Tmux(socket, {"list-sessions", "-F", "#{session_name}"}, absl::Now() + kAnswer);
}

// Under the lock that tmux holds while it starts a server.
absl::Status RemoveSocketOfGoneServer(const StateDir& dir) {
  const UniqueFd lock(
      openat(dir.run_fd(), kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!lock.ok()) return ErrnoStatus(errno, "open the lock of tmux");
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      !ServerIsGone(absl::StrCat(dir.run_path(), "/", kSocket))) {
    return absl::OkStatus();  // one is just starting
  }
  for (const char* name : {kSocket, kLock}) {
    if (unlinkat(dir.run_fd(), name, 0) != 0 && errno != ENOENT) {
      return ErrnoStatus(errno, absl::StrCat("remove '", dir.run_path(), "/", name, "'"));
    }
  }
  return absl::OkStatus();
}

// Whether some program may have sessions.
bool HasOwners(const StateDir& dir) {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(dir.owners_fd());
  return !names.ok() || std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    return ProbeLease(dir, name) != LeaseState::kFree;
  });
}

// Whether a session that has no owner any more stays: its keeper says that it runs, or its record
// is there when the keeper has gone. One that was never let run goes with its owner, its record
// first; this awaits it.
bool Stays(const Store& store, const Record& record, absl::Time deadline) {
  const UniqueFd keeper =
      ConnectTo(absl::StrCat(store.dir().run_path(), "/", record.uid), SOCK_SEQPACKET);
  launcher::Message answer;
  if (keeper.ok() && launcher::SendMessage(keeper.get(), launcher::kInfo, "", nullptr, 0) == 0 &&
      WaitFd(keeper.get(), POLLIN, deadline, "").ok() &&
      launcher::ReceiveMessage(keeper.get(), &answer) == 0 && answer.type == launcher::kOk &&
      answer.reader().Get<uint8_t>() == 1) {
    return true;
  }
  const absl::StatusOr<UniqueFd> process = OpenProcess(record.keeper);
  if (process.ok()) WaitFd(process->get(), POLLIN, deadline, "").IgnoreError();
  return !absl::IsNotFound(store.Read(record.uid).status());
}

// Whether a server has nothing but what holds connections of programs: neither sessions of ours nor
// a person's own.
bool HasOnlyConnections(const std::string& socket) {
  const absl::StatusOr<Answer> names = ListSessions(socket);
  if (!names.ok()) return false;
  const std::vector<absl::string_view> all = absl::StrSplit(names->text, '\n', absl::SkipEmpty());
  return names->code == 0 && std::all_of(all.begin(), all.end(), [](absl::string_view name) {
           return absl::StartsWith(name, "hold-");
         });
}

// Of those who are connected to a server: to wait for, not to signal.
std::vector<UniqueFd> ClientPidfds(const std::string& socket) {
  std::vector<UniqueFd> clients;
  const absl::StatusOr<Answer> pids =
      Tmux(socket, {"list-clients", "-F", "#{client_pid}"}, absl::Now() + kLastTime);
  if (!pids.ok()) return clients;
  for (const absl::string_view line : absl::StrSplit(pids->text, '\n', absl::SkipEmpty())) {
    pid_t pid;
    if (absl::SimpleAtoi(line, &pid)) clients.emplace_back(launcher::PidfdOpen(pid));
  }
  std::erase_if(clients, [](const UniqueFd& each) { return !each.ok(); });
  return clients;
}

// Returns once its clients are gone, too.
absl::Status EndServer(const std::string& socket, int pidfd, absl::Time deadline) {
  const std::vector<UniqueFd> clients = ClientPidfds(socket);
  Tmux(socket, {"kill-server"}, std::min(deadline, absl::Now() + kLastTime)).IgnoreError();
  // It waits for its clients, and one that hangs holds it up. Who listens on that socket is ours.
  if (!WaitFd(pidfd, POLLIN, std::min(deadline, absl::Now() + kLastTime), "").ok()) {
    launcher::PidfdSignal(pidfd, SIGKILL);
  }
  deadline = std::min(deadline, absl::Now() + kAnswer);
  ABSL_RETURN_IF_ERROR(WaitFd(pidfd, POLLIN, deadline, "wait for the end of the tmux server"));
  for (const UniqueFd& client : clients) {
    ABSL_RETURN_IF_ERROR(WaitFd(client.get(), POLLIN, deadline, "wait for a client of tmux"));
  }
  return absl::OkStatus();
}

bool IsOfSession(const Record& record) {
  return record.tmux_session == absl::StrCat("berth-", record.uid) && !record.tmux_socket.empty();
}

}  // namespace

Presence TmuxEngine::Look(const Record& record) {
  if (!IsOfSession(record)) return Presence::kUnknown;
  if (ServerIsGone(record.tmux_socket)) return Presence::kDead;
  const absl::StatusOr<int> code = OfSession(record, "has-session", absl::Now() + kAnswer);
  if (!code.ok()) return Presence::kUnknown;
  if (*code == 0) return Presence::kAlive;
  // It says the same of a session that is not there and of a server that it cannot talk to.
  const absl::StatusOr<Answer> answers = ListSessions(record.tmux_socket);
  return ServerIsGone(record.tmux_socket) || (answers.ok() && answers->code == 0)
             ? Presence::kDead
             : Presence::kUnknown;
}

std::vector<EventSource> TmuxEngine::Events(const Store&) {
  std::vector<EventSource> ends;
  for (const std::string& path : sockets_) {
    UniqueFd server = ServerPidfd(path);
    if (server.ok()) ends.push_back({std::move(server), [](int) { return true; }});
  }
  return ends;
}

absl::Status TmuxEngine::End(const Record& record, const EndOptions& options) {
  if (!IsOfSession(record)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tmux session '", record.tmux_session, "' does not carry the session's id: left alone"));
  }
  if (ServerIsGone(record.tmux_socket)) return absl::OkStatus();
  const absl::Time deadline = std::min(options.deadline, absl::Now() + kAnswer);
  ABSL_RETURN_IF_ERROR(OfSession(record, "kill-session", deadline).status());
  if (ServerIsGone(record.tmux_socket)) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const int there, OfSession(record, "has-session", deadline));
  if (there != 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("tmux session '", record.tmux_session, "' is still there"));
}

// Windows of this state directory's own server whose sessions have no record any more: a record is
// there before its window, and goes before it. And the socket of a server that is gone.
void TmuxEngine::SweepStrays(const Store& store, const Options& options, absl::Time deadline,
                             Report* report) {
  const StateDir& dir = store.dir();
  const std::string socket = absl::StrCat(dir.run_path(), "/", kSocket);
  struct stat entry;
  if (fstatat(dir.run_fd(), kSocket, &entry, AT_SYMLINK_NOFOLLOW) != 0) return;
  const auto settle = [&](Item item, const std::function<absl::Status()>& act) {
    if (!options.filter.ChoosesUnnamed(item.id)) return;
    if (!options.dry_run) {
      const bool late = absl::Now() >= deadline;
      if (!late) item.error = act();
      item.result = late ? Result::kOutOfTime : item.error.ok() ? Result::kDone : Result::kFailed;
    }
    report->Add(std::move(item), options.show_kept);
  };
  bool needed = false;
  const bool owned = HasOwners(dir);
  const absl::Time patience = std::min(deadline, absl::Now() + kLastTime);  // with all keepers
  if (!ServerIsGone(socket)) {
    const absl::StatusOr<Answer> names = ListSessions(socket);
    const std::string text = names.ok() && names->code == 0 ? names->text : "";
    for (const absl::string_view name : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      absl::string_view uid = name;
      if (!absl::ConsumePrefix(&uid, "berth-") || !IsUid(uid)) continue;
      const absl::StatusOr<Record> known = store.Read(std::string(uid));
      if (!absl::IsNotFound(known.status()) &&
          (owned || options.dry_run || !known.ok() || Stays(store, *known, patience))) {
        needed = true;
        continue;
      }
      Record record;
      record.uid = std::string(uid);
      record.tmux_session = std::string(name);
      record.tmux_socket = socket;
      settle({.kind = "tmux session",
              .id = record.tmux_session,
              .verdict = Verdict::kReap,
              .deed = "removed",
              .because = {"its session has no record"}},
             [&] { return End(record, {.deadline = deadline}); });
    }
  }
  if (const UniqueFd server = ServerPidfd(socket);
      server.ok() && !needed && !options.dry_run && !HasOwners(dir)) {
    // What connections of the dead held ends by itself, and with the last of it the server: unless
    // those that were to see to it were killed as well.
    const absl::Status ended =
        WaitFd(server.get(), POLLIN, std::min(deadline, absl::Now() + kLastTime), "");
    // Somebody may have come meanwhile.
    if (!ended.ok() && !HasOwners(dir) && HasOnlyConnections(socket)) {
      settle({.kind = "tmux server",
              .id = kSocket,
              .verdict = Verdict::kReap,
              .deed = "ended",
              .because = {"no program lives that uses it"}},
             [&] { return EndServer(socket, server.get(), deadline); });
    }
  }
  if (!ServerIsGone(socket)) return;
  settle({.kind = "socket",
          .id = kSocket,
          .verdict = Verdict::kReap,
          .deed = "removed",
          .because = {"nobody listens on it"}},
         [&] { return RemoveSocketOfGoneServer(dir); });
}

}  // namespace berth::reaper
