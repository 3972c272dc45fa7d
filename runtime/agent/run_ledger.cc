#include "runtime/agent/run_ledger.h"

#include <stdint.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/agent/usage.h"
#include "runtime/types.h"

namespace berth {
namespace {

Usage Priced(Usage usage, const Prices& prices) {
  if (usage.cost_usd == 0) usage.cost_usd = prices.Cost(usage);
  return usage;
}

}  // namespace

AgentResult RunLedger::result() const {
  absl::MutexLock lock(mutex_);
  return result_;
}

void RunLedger::Begin(bool resumed) {
  absl::MutexLock lock(mutex_);
  result_.status = AgentStatus::kRunning;
  result_.resumed = resumed;
}

void RunLedger::SetResumeRefused() {
  absl::MutexLock lock(mutex_);
  result_.resume_refused = true;
}

void RunLedger::ForgetAttempt() {
  absl::MutexLock lock(mutex_);
  tally_ = {};
  result_ = {.status = AgentStatus::kRunning, .resume_refused = result_.resume_refused};
}

bool RunLedger::Add(const AgentEvent& event) {
  absl::MutexLock lock(mutex_);
  if (!event.session_id.empty()) result_.session_id = event.session_id;
  if (event.new_turn) ++result_.turns;
  if (event.kind != AgentEvent::Kind::kUsage) return true;
  const bool more = tally_.Add(event.message_id, event.usage);
  result_.tallied = Priced(tally_.total(), budget_.prices);
  result_.usage = result_.tallied;
  return more;
}

void RunLedger::AddResult(const AgentEvent& event) {
  absl::MutexLock lock(mutex_);
  result_.text = event.text;
  if (event.turns > 0) result_.turns = event.turns;
  if (event.has_usage) result_.usage = Priced(event.usage, budget_.prices);
  if (result_.reason != AgentEnd::kNone && result_.reason != AgentEnd::kSuccess &&
      result_.reason != AgentEnd::kError) {
    return;
  }
  result_.status = event.is_error ? AgentStatus::kFailed : AgentStatus::kCompleted;
  result_.reason = event.is_error ? AgentEnd::kError : AgentEnd::kSuccess;
  result_.detail = event.is_error ? event.text : "";
}

void RunLedger::Reopen() {
  absl::MutexLock lock(mutex_);
  result_.status = AgentStatus::kRunning;
  result_.reason = AgentEnd::kNone;
}

void RunLedger::Fail(AgentEnd reason, absl::string_view detail) {
  absl::MutexLock lock(mutex_);
  if (result_.reason != AgentEnd::kNone) return;
  result_.status = AgentStatus::kFailed;
  result_.reason = reason;
  result_.detail = detail;
}

void RunLedger::SetExit(const ExitStatus& exit) {
  absl::MutexLock lock(mutex_);
  result_.exit = exit;
}

void RunLedger::SetTornBytes(int64_t bytes) {
  absl::MutexLock lock(mutex_);
  result_.torn_bytes = bytes;
}

void RunLedger::AddDetail(absl::string_view more) {
  absl::MutexLock lock(mutex_);
  absl::StrAppend(&result_.detail, result_.detail.empty() ? "" : "; ", more);
}

RunLedger::Excess RunLedger::OverBudget(int64_t further_turns) const {
  absl::MutexLock lock(mutex_);
  if (budget_.turns > 0 && result_.turns + further_turns > budget_.turns) {
    return {AgentEnd::kTurns, absl::StrCat("more than ", budget_.turns, " turns")};
  }
  if (budget_.cost_usd > 0 && result_.usage.cost_usd > budget_.cost_usd) {
    return {AgentEnd::kCost, absl::StrCat("more than ", budget_.cost_usd, " US dollars")};
  }
  return {};
}

}  // namespace berth
