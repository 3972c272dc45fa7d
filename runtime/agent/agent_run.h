// AgentRun: one agent, run to completion in a session of its own, and what it did.
//
//   ABSL_ASSIGN_OR_RETURN(auto run, AgentRun::Start(runtime.get(), {.agent = "claude",
//       .prompt = "fix the test", .place = {.name = "fix-42", .cwd = "/src/project"}}));
//   while (!run->finished()) {
//     ABSL_ASSIGN_OR_RETURN(std::optional<AgentEvent> event, run->Next(absl::InfiniteFuture()));
//     if (event.has_value()) Show(*event);
//   }
//   run->result().usage.cost_usd;
//
// No thread is started (but for an API loop, if its context allows one): the run goes on inside
// Next, and an event loop calls it when fd() is readable. Until then nothing is lost: the session's
// keeper holds the agent's output, and the agent waits once 64 MiB are unread.
//
// Ownership: the Runtime must outlive the run. Destroying a run ends its agent, and so does the
// death of the host. Threads: Next by one thread at a time; the others from any thread.
// Failure: Start fails if nothing was started; all that comes later is told by result().
#ifndef BERTH_RUNTIME_AGENT_AGENT_RUN_H_
#define BERTH_RUNTIME_AGENT_AGENT_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/agent/subscribers.h"
#include "runtime/runtime.h"

namespace berth {

class AgentRun {
 public:
  // InvalidArgument names what is wrong with the context.
  static absl::StatusOr<std::unique_ptr<AgentRun>> Start(Runtime* runtime, AgentContext context);
  virtual ~AgentRun() = default;

  // Readable while Next has something to do, and for ever once the run is finished.
  virtual int fd() const = 0;
  // The next event, as soon as there is one; nothing if there is none by `deadline` or the run is
  // finished. It is in the log and with the subscribers by then.
  virtual absl::StatusOr<std::optional<AgentEvent>> Next(absl::Time deadline) = 0;
  // All events were given, and no process is left.
  virtual bool finished() const = 0;
  // Until it is finished, or `deadline`, without looking at the events.
  absl::StatusOr<AgentResult> Drive(absl::Time deadline);

  // As far as it is known now. The status is final as soon as the agent has told its result, even
  // if its process lingers.
  virtual AgentResult result() const = 0;
  AgentStatus status() const { return result().status; }
  // Ends it: what is left to do is done by Next. Does nothing to a run that has its result but for
  // ending its process now.
  virtual void Stop() = 0;

  virtual const std::string& run_id() const = 0;        // of its event log
  virtual const std::string& session_name() const = 0;  // of the session it runs in
  // Events for someone else, from sequence `from` on; 0 is from now on.
  virtual absl::StatusOr<std::unique_ptr<EventHub::Subscription>> Subscribe(int64_t from) = 0;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_AGENT_RUN_H_
