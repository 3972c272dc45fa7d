#include "runtime/tmux/tmux_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/record/identity.h"
#include "runtime/record/random_id.h"
#include "runtime/tmux/quote.h"
#include "runtime/tmux/start_control.h"
#include "runtime/tmux/window.h"
#include "runtime/tmux/words.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/helper_file.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/pane_protocol.h"

namespace berth::tmux {
namespace {

constexpr char kPrefix[] = "berth-";
constexpr char kLineOfOurs[] = "\nberth-";
constexpr char kHoldPrefix[] = "hold-";

std::string ReadWhatIsThere(int fd) {
  char text[512];
  const ssize_t n = read(fd, text, sizeof(text));
  return n > 0 ? std::string(absl::StripAsciiWhitespace({text, static_cast<size_t>(n)})) : "";
}

}  // namespace

bool HasEnded(const UniqueFd& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

std::string SessionName(absl::string_view uid) { return absl::StrCat(kPrefix, uid); }
std::string Target(absl::string_view uid) { return absl::StrCat("=", SessionName(uid), ":"); }

TmuxServer::TmuxServer(std::shared_ptr<const Store> store, Launcher launcher, EngineWatch watch)
    : store_(std::move(store)),
      launcher_(std::move(launcher)),
      watch_(std::move(watch)),
      socket_path_(absl::StrCat(store_->dir().run_path(), "/tmux")),
      client_cwd_(socket_path_.size() < sizeof(sockaddr_un::sun_path) ? "/"
                                                                      : store_->dir().run_path()) {}

std::vector<std::string> TmuxServer::ClientCommand() const {
  return {"tmux", "-S", client_cwd_ == "/" ? socket_path_ : "tmux"};
}

absl::Status TmuxServer::NoSocket() const {
  return absl::UnavailableError(absl::StrCat("the tmux server cannot be reached: its socket ",
                                             socket_path_, " is not there"));
}

absl::Status TmuxServer::CheckSocket() const {
  struct stat st;
  const bool there = fstatat(store_->dir().run_fd(), "tmux", &st, AT_SYMLINK_NOFOLLOW) == 0;
  return there ? absl::OkStatus() : NoSocket();
}

absl::Status TmuxServer::CheckListens() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  absl::SNPrintF(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/tmux",
                 store_->dir().run_fd());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.ok()) return ErrnoStatus(errno, "make a socket");
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN) {
    return absl::OkStatus();
  }
  if (errno == ENOENT) return NoSocket();
  if (errno == ECONNREFUSED) {
    return absl::UnavailableError(
        absl::StrCat("the tmux server is gone: nobody listens at ", socket_path_));
  }
  return ErrnoStatus(errno, absl::StrCat("connect to the tmux server at ", socket_path_));
}

void TmuxServer::Close(const std::vector<std::string>& uids) {
  UniqueFd server, hold;
  {
    absl::MutexLock lock(mutex_);
    closed_ = true;
    if (!pidfd_.ok()) return;  // it was never needed
    if (client_ != nullptr) {
      for (const std::string& uid : uids) {
        const CommandLine line = RemoveWindowLine(uid);
        client_->Call(line.text, absl::Now() + kAnswerTime, line.commands).IgnoreError();
      }
      // Only sessions that hold connections: then the server ends with ours, if it is the last.
      const absl::StatusOr<std::string> sessions =
          client_->Call("list-sessions -F \"#{session_name}\"", absl::Now() + kAnswerTime);
      Disconnect();
      if (sessions.ok() && absl::StrContains(absl::StrCat("\n", *sessions), kLineOfOurs)) return;
    }
    server = std::move(pidfd_);
    hold = std::move(hold_pidfd_);
  }
  // Another program may be connected, and the server stay for it.
  const absl::Time deadline = absl::Now() + absl::Seconds(2);
  for (const UniqueFd* each : {&hold, &server}) {
    if (each->ok()) WaitFd(each->get(), POLLIN, deadline, "wait for the tmux server").IgnoreError();
  }
  TidySocket();
}

std::vector<std::string> TmuxServer::Environment() {
  const char* const path = getenv("PATH");
  return {absl::StrCat("PATH=", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"), "HOME=/",
          "SHELL=/bin/sh", "LC_ALL=C.UTF-8", "TERM=screen"};
}

std::string TmuxServer::helper_path() const {
  absl::MutexLock lock(mutex_);
  return helper_path_;
}

absl::StatusOr<std::shared_ptr<ControlClient>> TmuxServer::Connect(bool start) {
  UniqueFd alive;
  absl::StatusOr<std::shared_ptr<ControlClient>> client;
  {
    absl::MutexLock lock(mutex_);
    if (closed_) return absl::UnavailableError("the Runtime of this session is gone");
    // Our client of a server that was killed takes its time to notice.
    const bool ended = pidfd_.ok() && HasEnded(pidfd_);
    if (client_ != nullptr && !ended && !client_->gone()) return client_;
    Disconnect();
    client = StartClient(start);
    if (client.ok()) {
      client_ = *client;
      alive = UniqueFd(fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 3));
    }
  }
  if (alive.ok()) watch_.found(std::move(alive));
  return client;
}

void TmuxServer::Disconnect() {
  client_ = nullptr;
  client_life_.reset();
  if (hold_pidfd_.ok()) launcher::PidfdSignal(hold_pidfd_.get(), SIGTERM);
}

absl::Status TmuxServer::Note(absl::Status answer) {
  bool newly_lost = false;
  {
    absl::MutexLock lock(mutex_);
    const bool lost = absl::IsUnavailable(answer);
    newly_lost = lost && !lost_ && !closed_;
    lost_ = lost;
  }
  if (newly_lost) watch_.lost(answer.message());
  return answer;
}

absl::StatusOr<std::shared_ptr<ControlClient>> TmuxServer::StartClient(bool start) {
  if (!start) {
    ABSL_RETURN_IF_ERROR(CheckListens());
  }
  ABSL_ASSIGN_OR_RETURN(const std::string helper, launcher::InstallHelper(store_->dir().root_fd()));
  helper_path_ = absl::StrCat(store_->dir().path(), "/", helper);
  ABSL_ASSIGN_OR_RETURN(const Identity self, IdentifySelf());
  ABSL_ASSIGN_OR_RETURN(std::string id, RandomHexId());
  const std::string hold = absl::StrCat(kHoldPrefix, id);
  std::vector<std::string> argv = ClientCommand();
  if (!start) argv.push_back("-N");
  // The session that holds the connection goes with this process, however that ends: its program
  // watches us. Not by destroy-unattached, nor by a hook of the client's end: tmux (3.5a) crashes
  // if one client is on its way out while another one leaves.
  for (const char* word :
       {"-u", "-f", "/dev/null", "-C", "new-session", "-x", "80", "-y", "24", "-c", "/", "-s"})
    argv.push_back(word);
  for (const std::string& word :
       {hold, helper_path_, std::string(launcher::kHoldMode), absl::StrCat(self.pid),
        absl::StrCat(self.start_time), absl::StrCat(self.pid_namespace)})
    argv.push_back(word);
  for (const char* word : {";", "set-option", "-w", "remain-on-exit", "off"}) argv.push_back(word);
  ABSL_ASSIGN_OR_RETURN(const auto launcher, launcher_());
  absl::StatusOr<ControlProcess> process =
      StartControl(*launcher, client_cwd_, argv, Environment());
  if (absl::IsNotFound(process.status())) {
    return absl::FailedPreconditionError(absl::StrCat("there is no tmux in PATH: ", kInstall));
  }
  ABSL_RETURN_IF_ERROR(process.status());
  auto client = std::make_shared<ControlClient>(std::move(process->socket));
  const absl::Status greeted = Greet(*client, hold);
  if (absl::IsUnavailable(greeted)) {
    const std::string words = ReadWhatIsThere(process->errors.get());
    if (absl::StrContains(words, "usage:") || absl::StrContains(words, "unknown option")) {
      return absl::FailedPreconditionError(
          absl::StrCat("this tmux does not know what berth asks of it: ", kInstall));
    }
    return words.empty() ? greeted : absl::UnavailableError(absl::StrCat("tmux: ", words));
  }
  ABSL_RETURN_IF_ERROR(greeted);
  client_life_ = std::move(process->life);
  return client;
}

absl::Status TmuxServer::Greet(ControlClient& client, const std::string& hold) {
  const absl::Time deadline = absl::Now() + kAnswerTime;
  // Else tmux (3.3a, and sometimes others) may answer before there is our session: of another
  // program's, or of none; and the session comes when we have given up.
  ABSL_RETURN_IF_ERROR(client.AwaitStart(deadline));
  // Set again by each program that connects: they are the same for all. A session that has ended
  // keeps its window, which tells how; nothing of a viewer's environment enters a session; and a
  // server with nothing to do does not wake for its status line.
  const ControlClient::Ticket options = client.Begin(
      "set-option -gw remain-on-exit on ; set-option -g update-environment \"\" ; "
      "set-option -s escape-time 0 ; set-option -g status-left \"[#W] \" ; "
      "set-option -g status-left-length 66 ; set-option -gw automatic-rename off ; "
      "set-option -gw allow-rename off ; set-option -g status-interval 0",
      8);
  // By its name: without one, tmux may tell of another program's connection.
  ABSL_ASSIGN_OR_RETURN(const std::string facts,
                        client.Call(absl::StrCat("display-message -p -t =", hold,
                                                 ": \"#{version} #{pid} #{pane_pid}\""),
                                    deadline));
  ABSL_RETURN_IF_ERROR(client.Await(options, deadline).status());
  const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(facts), ' ');
  ABSL_RETURN_IF_ERROR(CheckVersion(words[0]));
  pid_t pid, holder;
  if (words.size() != 3 || !absl::SimpleAtoi(words[1], &pid) ||
      !absl::SimpleAtoi(words[2], &holder))
    return absl::InternalError(absl::StrCat("tmux calls itself '", facts, "'"));
  pidfd_ = UniqueFd(launcher::PidfdOpen(pid));
  hold_pidfd_ = UniqueFd(launcher::PidfdOpen(holder));
  TidyWindows(client);
  return absl::OkStatus();
}

void TmuxServer::TidyWindows(ControlClient& client) const {
  const absl::Time deadline = absl::Now() + kAnswerTime;
  const absl::StatusOr<std::string> names =
      client.Call("list-sessions -F \"#{session_name} #{session_attached}\"", deadline);
  if (!names.ok()) return;
  for (absl::string_view line : absl::StrSplit(*names, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(line, ' ');
    if (absl::StartsWith(words.first, kHoldPrefix) && words.second == "0")
      client.Begin(absl::StrCat("kill-session -t ", Quote(absl::StrCat("=", words.first))));
    absl::string_view uid = words.first;
    if (!absl::ConsumePrefix(&uid, kPrefix) || !IsUid(uid)) continue;
    // A record is there before its window, and goes before it.
    if (!absl::IsNotFound(store_->Read(std::string(uid)).status())) continue;
    const CommandLine removal = RemoveWindowLine(uid);
    client.Begin(removal.text, removal.commands);
  }
}

void TmuxServer::TidySocket() const {
  // tmux holds this lock while it starts a server.
  const int run = store_->dir().run_fd();
  const UniqueFd lock(openat(run, "tmux.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.ok() || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  const absl::Status listens = CheckListens();
  if (absl::IsUnavailable(listens)) unlinkat(run, "tmux", 0);
  unlinkat(run, "tmux.lock", 0);
}

absl::StatusOr<std::shared_ptr<ControlClient>> TmuxServer::Reach() {
  ABSL_RETURN_IF_ERROR(CheckSocket());
  return Connect(/*start=*/false);
}

absl::StatusOr<std::string> TmuxServer::Ask(absl::string_view line) {
  std::shared_ptr<ControlClient> likely;
  {
    absl::MutexLock lock(mutex_);
    likely = client_;
  }
  // The server thinks while we look whether it can be reached.
  const ControlClient::Ticket ticket = likely != nullptr ? likely->Begin(line) : nullptr;
  const absl::StatusOr<std::shared_ptr<ControlClient>> client = Reach();
  const auto hear = [&]() -> absl::StatusOr<std::string> {
    ABSL_RETURN_IF_ERROR(client.status());
    const absl::Time deadline = absl::Now() + kAnswerTime;
    return *client == likely ? likely->Await(ticket, deadline) : (*client)->Call(line, deadline);
  };
  absl::StatusOr<std::string> answer = hear();
  Note(answer.status()).IgnoreError();
  return answer;
}

absl::StatusOr<std::string> TmuxServer::Call(absl::string_view line, int commands) {
  ABSL_ASSIGN_OR_RETURN(const auto client, Connect(/*start=*/false));
  return client->Call(line, absl::Now() + kAnswerTime, commands);
}

}  // namespace berth::tmux
