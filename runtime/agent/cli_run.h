// CliRun: a run of an agent that is a program. A state machine over an AgentProcess; what its
// events add up to is the business of a RunLedger.
//
//   running --result--> lingering --grace--> stopping --exit or KILL--> draining --> ended
//      \__ budget, silence, Stop ______________/
//   (a refused resume goes from draining back to running, once)
//
// Internal to runtime/agent; see agent_run.h for who may call what.
#ifndef BERTH_RUNTIME_AGENT_CLI_RUN_H_
#define BERTH_RUNTIME_AGENT_CLI_RUN_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "re2/re2.h"
#include "runtime/agent/agent_process.h"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/context.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/journal.h"
#include "runtime/agent/result.h"
#include "runtime/agent/run_clock.h"
#include "runtime/agent/run_ledger.h"
#include "runtime/agent/subscribers.h"
#include "runtime/runtime.h"
#include "sandbox/base/unique_fd.h"

namespace berth {

class CliRun final : public AgentRun {
 public:
  // context.driver is set.
  static absl::StatusOr<std::unique_ptr<CliRun>> Start(Runtime* runtime, AgentContext context);

  int fd() const override { return poll_.get(); }
  absl::StatusOr<std::optional<AgentEvent>> Next(absl::Time deadline) override;
  bool finished() const override { return finished_; }
  AgentResult result() const override;
  void Stop() override;
  const std::string& run_id() const override { return journal_->run_id(); }
  const std::string& session_name() const override { return context_.place.name; }
  absl::StatusOr<std::unique_ptr<EventHub::Subscription>> Subscribe(int64_t from) override {
    return journal_->Subscribe(from);
  }

 private:
  enum class Phase : uint8_t { kRunning, kLingering, kStopping, kDraining, kEnded };

  CliRun(Runtime* runtime, AgentContext context, std::unique_ptr<RunJournal> journal, UniqueFd poll,
         UniqueFd timer);

  absl::Status Launch(bool resume);
  absl::Status Watch(int fd);
  // One round: everything that is due now.
  void Work();
  void TakeLine(const AgentProcess::Line& line);
  // Whether the event is to be recorded.
  bool TakeEvent(AgentEvent* event);
  void TakeResult(AgentEvent* event);
  void TakeRateLimit(const AgentEvent& event);
  // A line that is no event.
  void TakeWords(absl::string_view words);
  void LookForQuestion(absl::string_view text);
  void CheckTime();
  void ArmTimer();
  // The run is over for this reason, unless it already is for another one.
  void End(AgentEnd reason, std::string detail);
  void EnterPhase(Phase phase, absl::Duration limit);
  void ProcessEnded();
  void Finish();
  bool FallBack();
  bool Refused(absl::string_view text) const;

  Runtime* const runtime_;
  const AgentContext context_;
  const AgentDriver* const driver_;
  const std::unique_ptr<RunJournal> journal_;
  const UniqueFd poll_, timer_;
  const RE2 asks_, refused_pattern_;
  std::unique_ptr<AgentParser> parser_;
  std::unique_ptr<AgentProcess> process_;
  RunLedger ledger_;
  RunClock clock_;
  Phase phase_ = Phase::kRunning;
  RunClock::Tick phase_end_ = absl::InfiniteDuration();
  bool exited_ = false;
  bool ended_by_us_ = false;
  bool resuming_ = false;   // this process was asked to resume, and has not done anything yet
  bool refused_ = false;    // and it refused
  bool fell_back_ = false;  // to a fresh session, which is done once
  std::string last_words_;  // its last line that was no event
  std::string last_question_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> finished_ = false;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_AGENT_CLI_RUN_H_
