// KeeperChannel: asking a session's keeper. One connection for each call that is under way: calls
// never wait for each other, and a call that is given up takes its request with it. Threads: any,
// at once.
#ifndef BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_
#define BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/idle_connections.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/wire.h"

namespace berth {

class KeeperChannel {
 public:
  // The socket <folder run_fd>/<uid>; `run_fd` must outlive this. Calls use what is `idle` and
  // leave their connection there.
  KeeperChannel(int run_fd, std::string uid, std::shared_ptr<IdleConnections> idle = nullptr)
      : run_fd_(run_fd), uid_(std::move(uid)), idle_(std::move(idle)) {}

  // NotFound if there is no socket or nobody behind it. Unavailable if the keeper is so far behind
  // with its connections that this one does not get through until `deadline`.
  absl::StatusOr<UniqueFd> Connect(absl::Time deadline = absl::Now() + absl::Seconds(20)) const;

  // One request and its answer. Unavailable if the keeper does not answer until `deadline` or goes
  // away meanwhile.
  absl::StatusOr<launcher::Message> Call(uint16_t type, absl::string_view body, int fd,
                                         absl::Time deadline) const;

  // The two halves of it: a connection on which the request has been sent, with the errors of
  // Connect; and its answer.
  absl::StatusOr<UniqueFd> Ask(uint16_t type, absl::string_view body, int fd,
                               absl::Time deadline) const;
  absl::StatusOr<launcher::Message> Answer(UniqueFd socket, absl::Time deadline) const;

  // Closes what is idle: for a session that is to go.
  void CloseIdle() const;

  // The same over a connection of the caller's. `program` and `cwd` name what was to be started,
  // for the error.
  static absl::Status Send(int socket, uint16_t type, absl::string_view body, const int* fds,
                           int fd_count);
  static absl::StatusOr<launcher::Message> Receive(int socket, absl::Time deadline,
                                                   absl::string_view program = "",
                                                   absl::string_view cwd = "");

 private:
  const int run_fd_;
  const std::string uid_;
  const std::shared_ptr<IdleConnections> idle_;
};

// As its requests have them.
uint32_t WireMilliseconds(absl::Duration duration);
absl::Status MalformedAnswer();

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_
