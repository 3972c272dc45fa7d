// TmuxServer: the tmux server of one state directory, and this program's connection to it.
//
// The server is our own: its socket is <run folder>/tmux, it reads no configuration, and the user's
// own server is never touched. It is started by the first session that needs it, outlives the
// programs that use it, and ends by itself with its last session. A connection holds a session of
// its own on the server, which ends with it; sessions of berth are called berth-<uid>.
//
// Connected when first needed and again when the connection was lost. Threads: any, at once.
#ifndef BERTH_RUNTIME_TMUX_TMUX_SERVER_H_
#define BERTH_RUNTIME_TMUX_TMUX_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/backend.h"
#include "runtime/record/store.h"
#include "runtime/tmux/control_client.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"

namespace berth::tmux {

// How long the server may take for an answer before it counts as lost.
inline constexpr absl::Duration kAnswerTime = absl::Seconds(5);

class TmuxServer {
 public:
  using Launcher = std::function<absl::StatusOr<std::shared_ptr<launcher::LauncherClient>>()>;

  TmuxServer(std::shared_ptr<const Store> store, Launcher launcher, EngineWatch watch);

  // Takes the windows of these away and leaves: with its last session the server goes too, and then
  // its socket. From then on everything is Unavailable, and nobody is told anything: sessions may
  // outlive their Runtime.
  void Close(const std::vector<std::string>& uids);

  // The connection. With `start` a server is started if there is none; otherwise that is
  // Unavailable, with the reason. FailedPrecondition, saying what to install, if there is no tmux
  // or an old one.
  absl::StatusOr<std::shared_ptr<ControlClient>> Connect(bool start);

  // One command to the server that runs; see ControlClient.
  absl::StatusOr<std::string> Call(absl::string_view line, int commands = 1);

  // The connection to a server that runs and that others can reach too. Unavailable, with the
  // reason, if its socket is not there: a connection that stands outlives it, but nobody else gets
  // to the server.
  absl::StatusOr<std::shared_ptr<ControlClient>> Reach();
  // Returns how asking such a one went, and tells the EngineWatch what is new in that.
  absl::Status Note(absl::Status answer);
  // As Call, with both. For a question: it may be asked twice.
  absl::StatusOr<std::string> Ask(absl::string_view line);

  const std::string& socket_path() const { return socket_path_; }
  // `tmux -S …`, to be run in that folder: "/", or the socket's own where its path is longer than
  // an address may be.
  std::vector<std::string> ClientCommand() const;
  const std::string& client_cwd() const { return client_cwd_; }
  // The helper as a file; known once Connect has succeeded.
  std::string helper_path() const;
  // Environment of everything that tmux runs for us: nothing of a session's.
  static std::vector<std::string> Environment();

 private:
  absl::StatusOr<std::shared_ptr<ControlClient>> StartClient(bool start)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the connection, and the program that holds its window.
  void Disconnect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `hold` is the session that holds the connection.
  absl::Status Greet(ControlClient& client, const std::string& hold)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes windows of sessions and connections that are gone.
  void TidyWindows(ControlClient& client) const;
  absl::Status CheckSocket() const;
  absl::Status NoSocket() const;
  // Unavailable, with the reason, if nobody listens at the socket.
  absl::Status CheckListens() const;
  // Removes the socket if nobody listens behind it.
  void TidySocket() const;

  const std::shared_ptr<const Store> store_;
  const Launcher launcher_;
  const EngineWatch watch_;
  const std::string socket_path_, client_cwd_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<ControlClient> client_ ABSL_GUARDED_BY(mutex_);
  UniqueFd pidfd_ ABSL_GUARDED_BY(mutex_);        // of the server
  UniqueFd client_life_ ABSL_GUARDED_BY(mutex_);  // of the process behind it
  UniqueFd hold_pidfd_
      ABSL_GUARDED_BY(mutex_);  // of the program that holds our connection's window
  std::string helper_path_ ABSL_GUARDED_BY(mutex_);
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Whether that process has. Asked at every call, so without the words of an error.
bool HasEnded(const UniqueFd& pidfd);

// What tmux calls the session of that uid, and how it is addressed: exactly.
std::string SessionName(absl::string_view uid);
std::string Target(absl::string_view uid);

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_TMUX_SERVER_H_
