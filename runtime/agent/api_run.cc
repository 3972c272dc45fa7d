#include "runtime/agent/api_run.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/agent/api_loop.h"
#include "runtime/agent/canceller.h"
#include "runtime/agent/command_line.h"
#include "runtime/agent/context.h"
#include "runtime/agent/event.h"
#include "runtime/agent/journal.h"
#include "runtime/agent/result.h"
#include "runtime/agent/run_ledger.h"
#include "sandbox/base/wait_fd.h"

namespace berth {

ApiRun::ApiRun(AgentContext context, std::unique_ptr<ApiDialect> dialect,
               std::unique_ptr<RunJournal> journal, std::unique_ptr<Canceller> canceller)
    : context_(std::move(context)),
      dialect_(std::move(dialect)),
      journal_(std::move(journal)),
      canceller_(std::move(canceller)),
      ledger_(context_.budget) {
  ledger_.Begin(/*resumed=*/false);
}

absl::StatusOr<std::unique_ptr<ApiRun>> ApiRun::Start(AgentContext context,
                                                      std::unique_ptr<ApiDialect> dialect) {
  if (!context.may_start_thread) {
    return absl::FailedPreconditionError(
        "an API loop needs a thread of its own, which the context does not allow");
  }
  if (!context.api.key.empty()) context.redact.values.push_back(context.api.key);
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Canceller> canceller, Canceller::Create());
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<RunJournal> journal, RunJournal::Create(context));
  auto run = absl::WrapUnique(
      new ApiRun(std::move(context), std::move(dialect), std::move(journal), std::move(canceller)));
  // The host's signals are the host's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  run->thread_ = std::thread([raw = run.get()] { raw->Work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return run;
}

ApiRun::~ApiRun() {
  canceller_->Cancel();
  if (thread_.joinable()) thread_.join();
}

void ApiRun::Work() {
  ApiLoopOptions options;
  options.http = context_.http;
  options.http.request_timeout = std::min(options.http.request_timeout, context_.inactivity);
  if (context_.mcp_port != 0) options.mcp_url = McpUrl(context_);
  options.model = context_.api.model;
  const absl::Time wall = absl::Now() + context_.budget.wall;
  options.deadline = wall;
  const absl::Status status =
      RunApiLoop(dialect_.get(), options, canceller_.get(),
                 [this](AgentEvent event) { return TakeEvent(std::move(event)); });
  if (canceller_->cancelled()) {
    ledger_.Fail(AgentEnd::kStopped, "it was stopped");
  } else if (absl::Now() >= wall) {
    ledger_.Fail(AgentEnd::kWall,
                 absl::StrCat("it ran for ", absl::FormatDuration(context_.budget.wall)));
  } else if (!status.ok()) {
    ledger_.Fail(AgentEnd::kError, status.message());
  }
  journal_->End(result());
  ended_ = true;
}

bool ApiRun::TakeEvent(AgentEvent event) {
  ledger_.Add(event);
  if (event.kind == AgentEvent::Kind::kResult) {
    event.usage = ledger_.result().usage;
    event.has_usage = true;
    ledger_.AddResult(event);
  }
  // A tool is not called if there will be no turn to hear of it.
  const int64_t further_turns = event.kind == AgentEvent::Kind::kToolCall ? 1 : 0;
  journal_->Record(std::move(event));
  const RunLedger::Excess excess = ledger_.OverBudget(further_turns);
  if (excess.reason == AgentEnd::kNone) return true;
  ledger_.Fail(excess.reason, excess.detail);
  return false;
}

absl::StatusOr<std::optional<AgentEvent>> ApiRun::Next(absl::Time deadline) {
  while (true) {
    // Before the queue is looked at: what is recorded after that has ended_ false here.
    const bool ended = ended_;
    if (std::optional<AgentEvent> event = journal_->Take(); event.has_value()) return event;
    if (ended) {
      finished_ = true;
      return std::nullopt;
    }
    journal_->Quiet();
    const absl::Status ready = WaitFd(journal_->fd(), POLLIN, deadline, "wait for the agent");
    if (absl::IsDeadlineExceeded(ready)) return std::nullopt;
    ABSL_RETURN_IF_ERROR(ready);
  }
}

AgentResult ApiRun::result() const {
  AgentResult now = ledger_.result();
  now.log_error = journal_->log_error();
  return now;
}

void ApiRun::Stop() { canceller_->Cancel(); }

}  // namespace berth
