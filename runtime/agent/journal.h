// RunJournal: where the events of one run go: the log, the subscribers, and whoever calls Next.
// Internal to runtime/agent. Thread-safe.
#ifndef BERTH_RUNTIME_AGENT_JOURNAL_H_
#define BERTH_RUNTIME_AGENT_JOURNAL_H_

#include <stdint.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_log.h"
#include "runtime/agent/result.h"
#include "runtime/agent/subscribers.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class RunJournal {
 public:
  // The log is there, and durable, when this returns.
  static absl::StatusOr<std::unique_ptr<RunJournal>> Create(const AgentContext& context);

  const std::string& run_id() const { return log_->header().run_id; }
  // Gives the event its number and time.
  void Record(AgentEvent event);
  std::optional<AgentEvent> Take();
  // The last word: written to the log, and the subscribers come to their end.
  void End(AgentResult result);
  // Why the log lacks events; "" if it does not.
  std::string log_error() const;

  // Readable while Take has something, after Poke, and for ever after End.
  int fd() const { return wake_.get(); }
  void Poke();
  // Forgets Pokes. Call before looking at what they were for.
  void Quiet();

  absl::StatusOr<std::unique_ptr<EventHub::Subscription>> Subscribe(int64_t from) {
    return hub_.Subscribe(from);
  }

 private:
  RunJournal(const AgentContext& context, std::unique_ptr<EventLog> log, UniqueFd wake)
      : log_(std::move(log)), hub_(context.fan_out), wake_(std::move(wake)) {}

  const std::unique_ptr<EventLog> log_;
  EventHub hub_;
  const UniqueFd wake_;
  mutable absl::Mutex mutex_;
  std::deque<std::shared_ptr<const AgentEvent>> queue_ ABSL_GUARDED_BY(mutex_);
  int64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::string log_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_JOURNAL_H_
