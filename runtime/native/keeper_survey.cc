#include "runtime/native/keeper_survey.h"

#include <errno.h>
#include <sys/epoll.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/native/keeper_channel.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

using Answer = absl::StatusOr<launcher::Message>;
using Taker = absl::FunctionRef<void(size_t, const Answer&)>;

// Connections at once: fewer than a program may have descriptors, and as many as are worth it.
constexpr size_t kAtOnce = 256;

class Survey {
 public:
  Survey(int run_fd, const std::vector<std::string>& uids, const KeeperQuestion& question,
         Taker take)
      : run_fd_(run_fd),
        uids_(uids),
        question_(question),
        take_(take),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        silent_(epoll_.ok() ? absl::UnavailableError("the session's keeper does not answer")
                            : ErrnoStatus(errno, "make a descriptor to wait on")),
        sockets_(uids.size()) {}

  void Run(absl::Time deadline) {
    epoll_event ready[64];
    while (epoll_.ok()) {
      while (next_ < uids_.size() && waiting_ < kAtOnce && Ask(next_)) ++next_;
      if (waiting_ == 0 && next_ == uids_.size()) break;
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration()) break;
      const int64_t ms = absl::ToInt64Milliseconds(std::min(left, absl::Hours(24)));
      const int n = epoll_wait(epoll_.get(), ready, 64, static_cast<int>(ms) + 1);
      if (n < 0 && errno != EINTR) break;
      for (int i = 0; i < n; ++i) Take(ready[i].data.u64);
    }
    for (size_t i = 0; i < uids_.size(); ++i) {
      if (i >= next_ || sockets_[i].ok()) take_(i, silent_);
    }
  }

 private:
  // False if it must wait for a descriptor to become free.
  bool Ask(size_t i) {
    // A keeper whose queue is full is one that does not answer: it is not waited for.
    absl::StatusOr<UniqueFd> socket =
        KeeperChannel(run_fd_, uids_[i]).Connect(absl::InfinitePast());
    if (absl::IsResourceExhausted(socket.status()) && waiting_ > 0) return false;
    absl::Status asked = socket.status();
    if (asked.ok()) {
      asked = KeeperChannel::Send(socket->get(), question_.type, question_.body, nullptr, 0);
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    if (asked.ok() && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket->get(), &event) != 0)
      asked = ErrnoStatus(errno, "wait for the session's keeper");
    if (!asked.ok()) {
      take_(i, asked);
      return true;
    }
    sockets_[i] = *std::move(socket);
    ++waiting_;
    return true;
  }

  void Take(size_t i) {
    const Answer answer = KeeperChannel::Receive(sockets_[i].get(), absl::InfinitePast());
    sockets_[i].reset();  // and with it its place in the epoll
    --waiting_;
    take_(i, answer);
  }

  const int run_fd_;
  const std::vector<std::string>& uids_;
  const KeeperQuestion& question_;
  const Taker take_;
  const UniqueFd epoll_;
  const Answer silent_;
  std::vector<UniqueFd> sockets_;
  size_t next_ = 0, waiting_ = 0;
};

}  // namespace

void AskKeepers(int run_fd, const std::vector<std::string>& uids, const KeeperQuestion& question,
                absl::Time deadline, Taker take) {
  Survey(run_fd, uids, question, take).Run(deadline);
}

}  // namespace berth
