#include "runtime/agent/subscribers.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/agent/event.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

size_t SizeOf(const AgentEvent& event) {
  return sizeof(event) + event.text.size() + event.raw.size();
}

void Wake(int fd) {
  const uint64_t one = 1;
  // Fails only if the counter is full: readable then too.
  (void)!write(fd, &one, sizeof(one));
}

void Quiet(int fd) {
  uint64_t count;
  (void)!read(fd, &count, sizeof(count));
}

}  // namespace

// One ring for all: a subscriber is a position in it and a descriptor.
struct EventHub::State {
  const Options options;
  absl::Mutex mutex;
  std::deque<std::shared_ptr<const AgentEvent>> kept ABSL_GUARDED_BY(mutex);
  size_t bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t published ABSL_GUARDED_BY(mutex) = 0;  // sequence of the last one
  bool closed ABSL_GUARDED_BY(mutex) = false;
  std::vector<int> fds ABSL_GUARDED_BY(mutex);

  explicit State(const Options& chosen) : options(chosen) {}
  int64_t Oldest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return published + 1 - static_cast<int64_t>(kept.size());
  }
};

EventHub::EventHub(const Options& options) : state_(std::make_shared<State>(options)) {}

EventHub::~EventHub() { Close(); }

void EventHub::Publish(std::shared_ptr<const AgentEvent> event) {
  State& state = *state_;
  absl::MutexLock lock(state.mutex);
  state.published = event->sequence;
  state.bytes += SizeOf(*event);
  state.kept.push_back(std::move(event));
  while (state.kept.size() > 1 &&
         (state.kept.size() > state.options.max_events || state.bytes > state.options.max_bytes)) {
    state.bytes -= SizeOf(*state.kept.front());
    state.kept.pop_front();
  }
  for (const int fd : state.fds) Wake(fd);
}

void EventHub::Close() {
  absl::MutexLock lock(state_->mutex);
  state_->closed = true;
  for (const int fd : state_->fds) Wake(fd);
}

absl::StatusOr<std::unique_ptr<EventHub::Subscription>> EventHub::Subscribe(int64_t from) {
  UniqueFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.ok()) return ErrnoStatus(errno, "make a descriptor for a subscriber");
  absl::MutexLock lock(state_->mutex);
  const int64_t next = from > 0 ? from : state_->published + 1;
  state_->fds.push_back(fd.get());
  if (next <= state_->published || state_->closed) Wake(fd.get());
  return absl::WrapUnique(new Subscription(state_, std::move(fd), next));
}

EventHub::Subscription::~Subscription() {
  absl::MutexLock lock(state_->mutex);
  std::vector<int>& fds = state_->fds;
  fds.erase(std::remove(fds.begin(), fds.end(), fd_.get()), fds.end());
}

std::optional<EventHub::Item> EventHub::Subscription::Next() {
  State& state = *state_;
  absl::MutexLock lock(state.mutex);
  if (next_ > state.published) {
    if (!state.closed) Quiet(fd_.get());
    return std::nullopt;
  }
  const int64_t oldest = state.Oldest();
  if (next_ < oldest) {
    const Item missed{.missed_first = std::exchange(next_, oldest), .missed_last = oldest - 1};
    return missed;
  }
  Item item{.event = state.kept[static_cast<size_t>(next_ - oldest)]};
  ++next_;
  return item;
}

bool EventHub::Subscription::ended() const {
  absl::MutexLock lock(state_->mutex);
  return state_->closed && next_ > state_->published;
}

}  // namespace berth
