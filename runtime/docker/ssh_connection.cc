#include "runtime/docker/ssh_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/docker/relay/ssh_errors.h"
#include "runtime/docker/relay_path.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/launcher/client.h"

namespace berth {
namespace {

// Of our environment ssh gets what it and its configuration may need. No more: a relay has these in
// its arguments, where everybody can read them.
constexpr const char* kVariables[] = {"PATH",          "HOME",
                                      "USER",          "LOGNAME",
                                      "SSH_AUTH_SOCK", "SSH_ASKPASS_REQUIRE",
                                      "DISPLAY",       "WAYLAND_DISPLAY",
                                      "XAUTHORITY",    "SSH_ASKPASS",
                                      "KRB5CCNAME",    "XDG_RUNTIME_DIR"};

std::vector<std::string> Environment() {
  std::vector<std::string> env;
  for (const char* name : kVariables) {
    const char* value = getenv(name);
    // Lines are how a relay tells them apart.
    if (value != nullptr && !absl::StrContains(value, '\n'))
      env.push_back(absl::StrCat(name, "=", value));
  }
  return env;
}

// For the shell of the other machine: ssh hands it the arguments as one line.
std::string Quoted(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("_@%+=:,./-", static_cast<char>(c));
  });
  return plain ? text : absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::vector<std::string> Command(const EngineAddress& address) {
  std::vector<std::string> argv = {"ssh", "-o", "ConnectTimeout=30", "-o", "ControlMaster=no"};
  const char* askpass = getenv("SSH_ASKPASS_REQUIRE");
  if (askpass == nullptr || !absl::EqualsIgnoreCase(askpass, "force"))
    argv.insert(argv.end(), {"-o", "BatchMode=yes"});
  argv.push_back("-T");
  if (!address.ssh_user().empty()) argv.insert(argv.end(), {"-l", address.ssh_user()});
  if (address.port() != 0) argv.insert(argv.end(), {"-p", absl::StrCat(address.port())});
  argv.insert(argv.end(), {"--", address.host(), "docker"});
  if (!address.ssh_path().empty())
    argv.insert(argv.end(), {"--host", Quoted(absl::StrCat("unix://", address.ssh_path()))});
  argv.insert(argv.end(), {"system", "dial-stdio"});
  return argv;
}

class Launchers {
 public:
  absl::StatusOr<std::shared_ptr<launcher::LauncherClient>> Get() {
    absl::MutexLock lock(mutex_);
    // After a fork it is the parent's, who is not to lose it.
    if (client_ != nullptr && owner_ != getpid()) not_ours_.push_back(std::move(client_));
    if (client_ == nullptr || client_->gone()) {
      ABSL_ASSIGN_OR_RETURN(client_, launcher::LauncherClient::Begin("ssh"));
      owner_ = getpid();
    }
    return client_;
  }

 private:
  absl::Mutex mutex_;
  std::shared_ptr<launcher::LauncherClient> client_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<launcher::LauncherClient>> not_ours_ ABSL_GUARDED_BY(mutex_);
  pid_t owner_ ABSL_GUARDED_BY(mutex_) = 0;
};

std::string Remedy(const EngineAddress& address, absl::string_view text) {
  const std::string login =
      absl::StrCat(address.ssh_user(), address.ssh_user().empty() ? "" : "@", address.host());
  const std::string ssh = absl::StrCat(
      "ssh ", address.port() != 0 ? absl::StrCat("-p ", address.port(), " ") : "", login);
  const auto says = [text](absl::string_view what) {
    return absl::StrContainsIgnoreCase(text, what);
  };
  if (says("execute 'ssh'")) return "install ssh (openssh-client), or put it on PATH";
  if (says("host key verification failed") || says("identification has changed"))
    return absl::StrCat("see whether the key is that machine's, and accept it: ", ssh);
  if (says("command not found") || says("docker: not found") || says("ended with 127"))
    return "install docker there, on the PATH of a shell that is not interactive";
  if (says("docker daemon") || says("dial unix"))
    return absl::StrCat("start the engine there, let '", login,
                        "' into the group of its socket, or name another: ssh://host/path");
  if (says("permission denied"))
    return absl::StrCat("no password is asked for: give a key that '", login,
                        "' is let in with (ssh-add, IdentityFile in ~/.ssh/config)");
  if (says("could not resolve"))
    return "correct the host's name, or give it a Host in ~/.ssh/config";
  return absl::StrCat("see what comes of: ", ssh, " docker version");
}

}  // namespace

absl::StatusOr<SshConnection> OpenSsh(const EngineAddress& address) {
  static Launchers* const launchers = new Launchers;
  ABSL_ASSIGN_OR_RETURN(const std::string relay, PlainRelayPath());
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return ErrnoStatus(errno, "make a socket for ssh");
  SshConnection connection;
  connection.socket = UniqueFd(pair[0]);
  const UniqueFd theirs(pair[1]);
  connection.errors = relay::MakeSshErrors();
  if (!connection.errors.ok()) return ErrnoStatus(errno, "make a file for the errors of ssh");
  launcher::SpawnRequest request;
  request.argv = {relay, "ssh"};
  const std::vector<std::string> command = Command(address);
  request.argv.insert(request.argv.end(), command.begin(), command.end());
  request.env = Environment();
  request.cwd = "/";
  request.stdio[0] = request.stdio[1] = theirs.get();
  request.stdio[2] = connection.errors.get();
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<launcher::LauncherClient> launcher, launchers->Get());
  ABSL_RETURN_IF_ERROR(launcher->Spawn(request).status());
  return connection;
}

std::string SshHint(const EngineAddress& address, int errors) {
  constexpr size_t kMaxText = 1000;
  std::string text = relay::ReadSshErrors(errors);
  // What ended it is last; before that there may be a banner.
  if (text.size() > kMaxText) text.erase(0, text.size() - kMaxText);
  return absl::StrCat("; ssh: ", text.empty() ? "(nothing was said)" : text, "; ",
                      Remedy(address, text));
}

std::string SshRelayAddress(const EngineAddress& address) {
  std::string lines = "ssh:";
  for (const std::string& entry : Environment()) absl::StrAppend(&lines, entry, "\n");
  return absl::StrCat(lines, "\n", absl::StrJoin(Command(address), "\n"));
}

}  // namespace berth
