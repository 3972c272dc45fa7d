// ControlClient: one control-mode connection to a tmux server. Commands of any number of threads
// are written one after another without waiting for each other, and tmux answers in that order.
//
//   ControlClient client(std::move(socket));
//   ABSL_ASSIGN_OR_RETURN(std::string text, client.Call("list-sessions", absl::Now() + limit));
//
// It has no thread: of those who wait, one reads for all. A call that is given up leaves its reply
// to be skipped when it comes. Once the server or its client process has gone away, all calls are
// Unavailable for ever: see gone().
#ifndef BERTH_RUNTIME_TMUX_CONTROL_CLIENT_H_
#define BERTH_RUNTIME_TMUX_CONTROL_CLIENT_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/tmux/control_parser.h"
#include "sandbox/base/unique_fd.h"

namespace berth::tmux {

class ControlClient {
 public:
  // `socket` is a stream socket whose other end is the standard input and output of `tmux -C`.
  explicit ControlClient(UniqueFd socket) : socket_(std::move(socket)) {}

  // Waits until the command that `tmux -C` was started with has been carried out, and returns its
  // error as Await does. What is sent before may be carried out before it.
  absl::Status AwaitStart(absl::Time deadline);

  // A command line that is on its way.
  struct Pending {
    const int commands;
    const absl::Time begun;
    int replies = 0;
    bool done = false;
    absl::Status error = absl::OkStatus();
    std::string text = {};
  };
  using Ticket = std::shared_ptr<Pending>;

  // Sends a line of `commands` commands, separated by `;`: tmux does not let another client's
  // between them. Never waits.
  Ticket Begin(absl::string_view line, int commands = 1);
  // What all of them wrote; the error of the first that failed, after which the rest did not run:
  // NotFound for a target that is not there, FailedPrecondition with tmux's words for another.
  // Unavailable if the server does not answer until then; sooner, if it owes an answer for long
  // already: of many calls to a server that is stopped only the first waits.
  absl::StatusOr<std::string> Await(const Ticket& ticket, absl::Time deadline);
  absl::StatusOr<std::string> Call(absl::string_view line, absl::Time deadline, int commands = 1) {
    return Await(Begin(line, commands), deadline);
  }

  bool gone() const;

 private:
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Break(absl::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Take(const ControlEvent& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for the server, without the lock, and takes what it wrote.
  void Read(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const UniqueFd socket_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  std::string unsent_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ticket> pending_ ABSL_GUARDED_BY(mutex_);
  ControlParser parser_ ABSL_GUARDED_BY(mutex_);
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> started_ ABSL_GUARDED_BY(mutex_);  // how that went
};

}  // namespace berth::tmux

#endif  // BERTH_RUNTIME_TMUX_CONTROL_CLIENT_H_
