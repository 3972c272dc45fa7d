#include "runtime/agent/journal.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/event_log.h"
#include "runtime/agent/redact.h"
#include "runtime/agent/result.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

absl::StatusOr<std::unique_ptr<RunJournal>> RunJournal::Create(const AgentContext& context) {
  RedactOptions redact = context.redact;
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> environment,
                        context.place.env.Resolve(environ));
  for (std::string& secret : Redactor::SecretsOf(environment)) {
    redact.values.push_back(std::move(secret));
  }
  ABSL_ASSIGN_OR_RETURN(Redactor redactor, Redactor::Create(redact));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<EventLog> log,
                        EventLog::Create(context.state_dir,
                                         {.name = context.place.name,
                                          .agent = context.agent,
                                          .agent_name = context.agent_name,
                                          .story_id = context.story_id},
                                         std::move(redactor)));
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.ok()) return ErrnoStatus(errno, "make a descriptor for events");
  return absl::WrapUnique(new RunJournal(context, std::move(log), std::move(wake)));
}

void RunJournal::Record(AgentEvent event) {
  absl::MutexLock lock(mutex_);
  event.sequence = ++sequence_;
  event.time = absl::Now();
  const auto shared = std::make_shared<const AgentEvent>(std::move(event));
  // A log that cannot be written is told in the result; the agent's work is not stopped for it.
  if (const absl::Status status = log_->Append(*shared); !status.ok() && log_error_.empty()) {
    log_error_ = status.message();
  }
  hub_.Publish(shared);
  queue_.push_back(shared);
  Poke();
}

std::optional<AgentEvent> RunJournal::Take() {
  absl::MutexLock lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  const std::shared_ptr<const AgentEvent> event = std::move(queue_.front());
  queue_.pop_front();
  return *event;
}

void RunJournal::End(AgentResult result) {
  absl::MutexLock lock(mutex_);
  result.log_error = log_error_;
  if (const absl::Status status = log_->End(result); !status.ok() && log_error_.empty()) {
    log_error_ = status.message();
  }
  ended_ = true;
  hub_.Close();
  Poke();
}

std::string RunJournal::log_error() const {
  absl::MutexLock lock(mutex_);
  return log_error_;
}

void RunJournal::Poke() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));  // full is readable too
}

void RunJournal::Quiet() {
  absl::MutexLock lock(mutex_);
  if (!queue_.empty() || ended_) return;
  uint64_t count;
  (void)!read(wake_.get(), &count, sizeof(count));
}

}  // namespace berth
