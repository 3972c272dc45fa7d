#include "runtime/tmux/tmux_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
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
#include "runtime/record/random_id.h"
#include "runtime/tmux/quote.h"
#include "runtime/tmux/start_control.h"
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
constexpr char kInstall[] = "install tmux 3.2 or newer, or use the native backend";

std::string ReadWhatIsThere(int fd) {
  char text[512];
  const ssize_t n = read(fd, text, sizeof(text));
  return n > 0 ? std::string(absl::StripAsciiWhitespace({text, static_cast<size_t>(n)})) : "";
}

}  // namespace

std::string SessionName(absl::string_view uid) { return absl::StrCat(kPrefix, uid); }
std::string Target(absl::string_view uid) { return absl::StrCat("=", SessionName(uid), ":"); }

absl::Status CheckVersion(absl::string_view version) {
  absl::string_view digits = version;
  // Builds between releases are called next-3.6; OpenBSD's own is always as new as its system.
  if (absl::StartsWith(digits, "openbsd-")) return absl::OkStatus();
  absl::ConsumePrefix(&digits, "next-");
  const std::vector<absl::string_view> parts = absl::StrSplit(digits, absl::MaxSplits('.', 1));
  int major = 0, minor = 0;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &major) &&
      absl::SimpleAtoi(parts[1].substr(0, parts[1].find_first_not_of("0123456789")), &minor) &&
      (major > 3 || (major == 3 && minor >= 2))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("tmux '", version, "' is too old for berth: ", kInstall));
}

TmuxServer::TmuxServer(std::shared_ptr<const Store> store, Launcher launcher)
    : store_(std::move(store)),
      launcher_(std::move(launcher)),
      socket_path_(absl::StrCat(store_->dir().run_path(), "/tmux")),
      client_cwd_(socket_path_.size() < sizeof(sockaddr_un::sun_path) ? "/"
                                                                      : store_->dir().run_path()) {}

std::vector<std::string> TmuxServer::ClientCommand() const {
  return {"tmux", "-S", client_cwd_ == "/" ? socket_path_ : "tmux"};
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
  if (errno == ENOENT) {
    return absl::UnavailableError(absl::StrCat("the tmux server cannot be reached: its socket ",
                                               socket_path_, " is not there"));
  }
  if (errno == ECONNREFUSED) {
    return absl::UnavailableError(
        absl::StrCat("the tmux server is gone: nobody listens at ", socket_path_));
  }
  return ErrnoStatus(errno, absl::StrCat("connect to the tmux server at ", socket_path_));
}

TmuxServer::~TmuxServer() {
  UniqueFd server, hold;
  {
    absl::MutexLock lock(mutex_);
    if (client_ == nullptr) return;
    // Only sessions that hold connections: then the server ends with ours, if it is the last.
    const absl::StatusOr<std::string> sessions =
        client_->Call("list-sessions -F \"#{session_name}\"", absl::Now() + kAnswerTime);
    if (sessions.ok() && absl::StrContains(absl::StrCat("\n", *sessions), kLineOfOurs)) return;
    server = std::move(pidfd_);
    hold = std::move(hold_pidfd_);
    client_ = nullptr;
  }
  // Another program may be connected, and the server stay for it.
  const absl::Time deadline = absl::Now() + absl::Seconds(2);
  for (const UniqueFd* each : {&hold, &server}) {
    if (each->ok()) WaitFd(each->get(), POLLIN, deadline, "wait for the tmux server").IgnoreError();
  }
  TidySocket();
}

void TmuxServer::Leave(const std::vector<std::string>& uids) {
  absl::MutexLock lock(mutex_);
  if (client_ == nullptr) return;
  for (const std::string& uid : uids) {
    client_->Call(absl::StrCat("kill-session -t =", SessionName(uid)), absl::Now() + kAnswerTime)
        .IgnoreError();
  }
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

UniqueFd TmuxServer::ServerPidfd() const {
  absl::MutexLock lock(mutex_);
  return UniqueFd(pidfd_.ok() ? fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 3) : -1);
}

absl::StatusOr<std::shared_ptr<ControlClient>> TmuxServer::Connect(bool start) {
  absl::MutexLock lock(mutex_);
  if (client_ != nullptr && !client_->gone()) return client_;
  client_ = nullptr;
  ABSL_ASSIGN_OR_RETURN(client_, StartClient(start));
  return client_;
}

absl::StatusOr<std::shared_ptr<ControlClient>> TmuxServer::StartClient(bool start) {
  if (!start) {
    ABSL_RETURN_IF_ERROR(CheckListens());
  }
  ABSL_ASSIGN_OR_RETURN(const std::string helper, launcher::InstallHelper(store_->dir().root_fd()));
  helper_path_ = absl::StrCat(store_->dir().path(), "/", helper);
  ABSL_ASSIGN_OR_RETURN(std::string id, RandomHexId());
  const std::string hold = absl::StrCat(kHoldPrefix, id);
  std::vector<std::string> argv = ClientCommand();
  if (!start) argv.push_back("-N");
  // The session that holds the connection goes with it, however that ends.
  for (const char* word :
       {"-u", "-f", "/dev/null", "-C", "new-session", "-x", "80", "-y", "24", "-c", "/", "-s"})
    argv.push_back(word);
  for (const std::string& word : {hold, helper_path_, std::string(launcher::kHoldMode)})
    argv.push_back(word);
  for (const char* word : {";", "set-option", "destroy-unattached", "on"}) argv.push_back(word);
  ABSL_ASSIGN_OR_RETURN(const auto launcher, launcher_());
  absl::StatusOr<ControlProcess> process =
      StartControl(*launcher, client_cwd_, argv, Environment());
  if (absl::IsNotFound(process.status())) {
    return absl::FailedPreconditionError(absl::StrCat("there is no tmux in PATH: ", kInstall));
  }
  ABSL_RETURN_IF_ERROR(process.status());
  auto client = std::make_shared<ControlClient>(std::move(process->socket));
  const absl::Status greeted = Greet(*client);
  if (absl::IsUnavailable(greeted)) {
    const std::string words = ReadWhatIsThere(process->errors.get());
    if (absl::StrContains(words, "usage:") || absl::StrContains(words, "unknown option")) {
      return absl::FailedPreconditionError(
          absl::StrCat("this tmux does not know what berth asks of it: ", kInstall));
    }
    return words.empty() ? greeted : absl::UnavailableError(absl::StrCat("tmux: ", words));
  }
  ABSL_RETURN_IF_ERROR(greeted);
  return client;
}

absl::Status TmuxServer::Greet(ControlClient& client) {
  const absl::Time deadline = absl::Now() + kAnswerTime;
  // Set again by each program that connects: they are the same for all. A session that has ended
  // keeps its window, which tells how; nothing of a viewer's environment enters a session.
  const ControlClient::Ticket options = client.Begin(
      "set-option -gw remain-on-exit on ; set-option -g update-environment \"\" ; "
      "set-option -s escape-time 0 ; set-option -g status-left \"[#W] \" ; "
      "set-option -g status-left-length 66 ; set-option -gw automatic-rename off ; "
      "set-option -gw allow-rename off",
      7);
  ABSL_ASSIGN_OR_RETURN(
      const std::string facts,
      client.Call("display-message -p \"#{version} #{pid} #{pane_pid}\"", deadline));
  ABSL_RETURN_IF_ERROR(client.Await(options, deadline).status());
  const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(facts), ' ');
  ABSL_RETURN_IF_ERROR(CheckVersion(words[0]));
  pid_t pid, hold;
  if (words.size() != 3 || !absl::SimpleAtoi(words[1], &pid) || !absl::SimpleAtoi(words[2], &hold))
    return absl::InternalError(absl::StrCat("tmux calls itself '", facts, "'"));
  pidfd_ = UniqueFd(launcher::PidfdOpen(pid));
  hold_pidfd_ = UniqueFd(launcher::PidfdOpen(hold));
  TidyWindows(client);
  return absl::OkStatus();
}

void TmuxServer::TidyWindows(ControlClient& client) const {
  const absl::Time deadline = absl::Now() + kAnswerTime;
  const absl::StatusOr<std::string> names =
      client.Call("list-sessions -F \"#{session_name}\"", deadline);
  if (!names.ok()) return;
  for (absl::string_view name : absl::StrSplit(*names, '\n', absl::SkipEmpty())) {
    absl::string_view uid = name;
    if (!absl::ConsumePrefix(&uid, kPrefix) || !IsUid(uid)) continue;
    // A record is there before its window, and goes before it.
    if (absl::IsNotFound(store_->Read(std::string(uid)).status()))
      client.Begin(absl::StrCat("kill-session -t ", Quote(absl::StrCat("=", name))));
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

absl::StatusOr<std::string> TmuxServer::Call(absl::string_view line, int commands) {
  ABSL_ASSIGN_OR_RETURN(const auto client, Connect(false));
  return client->Call(line, absl::Now() + kAnswerTime, commands);
}

}  // namespace berth::tmux
