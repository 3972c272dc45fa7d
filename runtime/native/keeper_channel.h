// KeeperChannel: asking a session's keeper. One connection a call: calls never wait for each other,
// and a call that is given up takes its request with it. Threads: any, at once.
#ifndef BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_
#define BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_

#include <stdint.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/wire.h"

namespace berth {

class KeeperChannel {
 public:
  // The socket <folder run_fd>/<uid>; `run_fd` must outlive this.
  KeeperChannel(int run_fd, std::string uid) : run_fd_(run_fd), uid_(std::move(uid)) {}

  // NotFound if there is no socket or nobody behind it. Unavailable if the keeper is so far behind
  // with its connections that this one does not get through until `deadline`.
  absl::StatusOr<UniqueFd> Connect(absl::Time deadline = absl::Now() + absl::Seconds(20)) const;

  // One request and its answer. Unavailable if the keeper does not answer until `deadline` or goes
  // away meanwhile.
  absl::StatusOr<launcher::Message> Call(uint16_t type, absl::string_view body, int fd,
                                         absl::Time deadline) const;

  // The two halves of Call, over a connection. `program` and `cwd` name what was to be started, for
  // the error.
  static absl::Status Send(int socket, uint16_t type, absl::string_view body, const int* fds,
                           int fd_count);
  static absl::StatusOr<launcher::Message> Receive(int socket, absl::Time deadline,
                                                   absl::string_view program = "",
                                                   absl::string_view cwd = "");

 private:
  const int run_fd_;
  const std::string uid_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_KEEPER_CHANNEL_H_
