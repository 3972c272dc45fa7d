// EventHub: one run's events to any number of subscribers, in bounded memory. A subscriber that
// does not keep up holds nobody up: it is told which events it missed, and goes on with the oldest
// that is still there.
//
//   ABSL_ASSIGN_OR_RETURN(auto subscription, hub.Subscribe(1));
//   WaitFd(subscription->fd(), POLLIN, …);
//   while (std::optional<EventHub::Item> item = subscription->Next()) { … }
//
// Ownership: subscriptions may outlive the hub; they then come to their end. Threads: all calls
// from any thread; one subscription is used by one thread at a time.
#ifndef BERTH_RUNTIME_AGENT_SUBSCRIBERS_H_
#define BERTH_RUNTIME_AGENT_SUBSCRIBERS_H_

#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/agent/event.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class EventHub {
 public:
  struct Options {
    size_t max_events = 1024;
    size_t max_bytes = size_t{16} << 20;  // of texts and raw lines; the last event always stays
  };
  // An event, or (then `event` is null) the range of sequences that were missed.
  struct Item {
    std::shared_ptr<const AgentEvent> event = nullptr;
    int64_t missed_first = 0, missed_last = 0;
  };
  class Subscription;

  explicit EventHub(const Options& options);
  ~EventHub();

  // Events come in the order of their sequence: 1, 2, 3, …
  void Publish(std::shared_ptr<const AgentEvent> event);
  // No more events will come.
  void Close();
  // From the event `from` on; 0: from now on. What is older than the oldest kept one counts as
  // missed.
  absl::StatusOr<std::unique_ptr<Subscription>> Subscribe(int64_t from);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

class EventHub::Subscription {
 public:
  ~Subscription();
  // Readable while Next has something, and once the hub is closed.
  int fd() const { return fd_.get(); }
  // The next item, or nothing at once.
  std::optional<Item> Next();
  // Nothing is left and nothing will come.
  bool ended() const;
  // The sequence that comes next.
  int64_t position() const { return next_; }

 private:
  friend class EventHub;
  Subscription(std::shared_ptr<State> state, UniqueFd fd, int64_t next)
      : state_(std::move(state)), fd_(std::move(fd)), next_(next) {}

  const std::shared_ptr<State> state_;
  const UniqueFd fd_;
  int64_t next_;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_SUBSCRIBERS_H_
