// RunLedger: what the events of a run add up to: its result so far, what it has used up, and
// whether that is more than it may.
//
// The first reason to end is the one that counts. Threads: result() from any thread, the rest from
// the one that drives the run. Internal to runtime/agent.
#ifndef BERTH_RUNTIME_AGENT_RUN_LEDGER_H_
#define BERTH_RUNTIME_AGENT_RUN_LEDGER_H_

#include <stdint.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"
#include "runtime/types.h"

namespace berth {

class RunLedger {
 public:
  explicit RunLedger(const AgentBudget& budget) : budget_(budget) {}

  AgentResult result() const;

  void Begin(bool resumed);
  void SetResumeRefused();
  // After that: all that was written of the attempt is forgotten.
  void ForgetAttempt();

  // Whether the event says anything new: usage that was told before does not.
  bool Add(const AgentEvent& event);
  // The agent's last word, and with it how the run ends unless that is known.
  void AddResult(const AgentEvent& event);
  // It was not its last word: the agent goes on.
  void Reopen();

  // The run has failed, unless its end is known.
  void Fail(AgentEnd reason, absl::string_view detail);
  void SetExit(const ExitStatus& exit);
  void SetTornBytes(int64_t bytes);
  void AddDetail(absl::string_view more);

  // Which budget would be overdrawn after so many turns more, and in words; kNone if none would.
  struct Excess {
    AgentEnd reason = AgentEnd::kNone;
    std::string detail = {};
  };
  Excess OverBudget(int64_t further_turns) const;

 private:
  const AgentBudget budget_;
  UsageTally tally_;
  mutable absl::Mutex mutex_;
  AgentResult result_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_RUN_LEDGER_H_
