#include "runtime/agent/cli_run.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_process.h"
#include "runtime/agent/command_line.h"
#include "runtime/agent/context.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/journal.h"
#include "runtime/agent/result.h"
#include "runtime/agent/run_clock.h"
#include "runtime/env.h"
#include "runtime/runtime.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/errno_status.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth {
namespace {

// Output that is read before the session has a reader is kept up to here.
constexpr int64_t kKeptOutput = int64_t{64} << 20;
// How long output is awaited after the end of the process: without any coming, if something else
// holds it open; in all, if the run was ended, and what the agent still had to say is of no use.
constexpr absl::Duration kDrain = absl::Seconds(2);
constexpr size_t kLongestQuestion = 4096;

RE2::Options Quietly() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

}  // namespace

CliRun::CliRun(Runtime* runtime, AgentContext context, const AgentDriver* driver,
               std::unique_ptr<RunJournal> journal, UniqueFd poll, UniqueFd timer)
    : runtime_(runtime),
      context_(std::move(context)),
      driver_(driver),
      journal_(std::move(journal)),
      poll_(std::move(poll)),
      timer_(std::move(timer)),
      asks_(driver->asks, Quietly()),
      refused_pattern_(driver->resume_refused, Quietly()),
      clock_(context_.inactivity, context_.budget.wall, MonotonicNow()) {}

absl::StatusOr<std::unique_ptr<CliRun>> CliRun::Start(Runtime* runtime, AgentContext context,
                                                      const AgentDriver* driver) {
  UniqueFd poll(epoll_create1(EPOLL_CLOEXEC));
  UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!poll.ok() || !timer.ok()) return ErrnoStatus(errno, "make the descriptors of a run");
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<RunJournal> journal, RunJournal::Create(context));
  auto run = absl::WrapUnique(new CliRun(runtime, std::move(context), driver, std::move(journal),
                                         std::move(poll), std::move(timer)));
  ABSL_RETURN_IF_ERROR(run->Watch(run->timer_.get()));
  ABSL_RETURN_IF_ERROR(run->Watch(run->journal_->fd()));
  if (absl::Status started = run->Launch(!run->context_.resume.empty()); !started.ok()) {
    AgentResult failed = run->result();
    failed.status = AgentStatus::kFailed;
    failed.reason = AgentEnd::kNoResult;
    failed.detail = absl::StrCat("it could not be started: ", started.message());
    run->journal_->End(std::move(failed));
    return started;
  }
  run->ArmTimer();
  return run;
}

absl::Status CliRun::Watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return ErrnoStatus(errno, "watch a descriptor of a run");
  }
  return absl::OkStatus();
}

absl::Status CliRun::Launch(bool resume) {
  SessionSpec spec = context_.place;
  spec.command = Command::Argv(AgentCommandLine(*driver_, context_, resume));
  spec.pty = false;
  spec.durable = false;
  spec.output_bytes = kKeptOutput;
  if (!context_.story_id.empty()) spec.env.Set("BERTH_STORY", context_.story_id);
  if (!context_.agent_name.empty()) spec.env.Set("BERTH_AGENT", context_.agent_name);
  if (context_.mcp_port != 0) spec.env.Set("BERTH_MCP_URL", McpUrl(context_));
  parser_ = driver_->make_parser();
  exited_ = refused_ = false;
  resuming_ = resume;
  last_stderr_.clear();
  ABSL_ASSIGN_OR_RETURN(process_, AgentProcess::Start(runtime_, spec, AgentPrompt(context_, resume),
                                                      context_.max_line));
  for (const int fd : {process_->stdout_fd(), process_->stderr_fd(), process_->exit_fd()}) {
    ABSL_RETURN_IF_ERROR(Watch(fd));
  }
  if (process_->lost_bytes() > 0) {
    AgentEvent lost;
    lost.truncated_bytes = process_->lost_bytes();
    lost.text = "output that was written before it could be read";
    journal_->Record(std::move(lost));
  }
  clock_.Activity(MonotonicNow());
  phase_ = Phase::kRunning;
  phase_end_ = absl::InfiniteDuration();
  absl::MutexLock lock(mutex_);
  result_.status = AgentStatus::kRunning;
  result_.resumed = resume;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<AgentEvent>> CliRun::Next(absl::Time deadline) {
  while (true) {
    if (std::optional<AgentEvent> event = journal_->Take(); event.has_value()) return event;
    if (phase_ == Phase::kEnded) {
      finished_ = true;
      return std::nullopt;
    }
    const absl::Status ready = WaitFd(poll_.get(), POLLIN, deadline, "wait for the agent");
    if (absl::IsDeadlineExceeded(ready)) return std::nullopt;
    ABSL_RETURN_IF_ERROR(ready);
    Work();
    if (absl::Now() >= deadline && phase_ != Phase::kEnded) {
      return journal_->Take();  // what is always busy still keeps deadlines
    }
  }
}

void CliRun::Work() {
  uint64_t count;
  (void)!read(timer_.get(), &count, sizeof(count));
  journal_->Quiet();  // before stop_ is looked at, or a Stop could be overlooked
  if (stop_.load()) End(AgentEnd::kStopped, "it was stopped");
  if (process_->ReadLines([this](const AgentProcess::Line& line) { TakeLine(line); })) {
    clock_.Activity(MonotonicNow());
    if (phase_ == Phase::kDraining && !ended_by_us_) EnterPhase(Phase::kDraining, kDrain);
    LookForQuestion(process_->unfinished());
  }
  if (process_->exit_fd() >= 0 &&
      WaitFd(process_->exit_fd(), POLLIN, absl::InfinitePast(), "look for the end").ok()) {
    ProcessEnded();
  }
  CheckTime();
  if (exited_ && process_->drained()) Finish();
  if (phase_ != Phase::kEnded) ArmTimer();
}

void CliRun::TakeLine(const AgentProcess::Line& line) {
  std::vector<AgentEvent> events;
  if (line.from_stderr || line.line.truncated_bytes > 0) {
    events.emplace_back().from_stderr = line.from_stderr;
  } else {
    parser_->Parse(line.line.text, &events);
  }
  events[0].truncated_bytes = line.line.truncated_bytes;
  events[0].raw = line.line.text;
  if (line.from_stderr && !line.line.text.empty()) last_stderr_ = line.line.text.substr(0, 1000);
  if (resuming_ && line.from_stderr && Refused(line.line.text)) refused_ = true;
  for (AgentEvent& event : events) {
    if (TakeEvent(&event)) journal_->Record(std::move(event));
  }
  if (events.size() == 1 && events[0].kind == AgentEvent::Kind::kRaw) {
    LookForQuestion(line.line.text);
  }
  CheckBudget();
}

bool CliRun::TakeEvent(AgentEvent* event) {
  using Kind = AgentEvent::Kind;
  if (event->kind == Kind::kText || event->kind == Kind::kToolCall) resuming_ = false;
  absl::ReleasableMutexLock lock(mutex_);
  if (!event->session_id.empty()) result_.session_id = event->session_id;
  if (event->new_turn) {
    ++result_.turns;
    if (phase_ == Phase::kLingering) {  // it was not its last word
      result_.status = AgentStatus::kRunning;
      result_.reason = AgentEnd::kNone;
      phase_ = Phase::kRunning;
      phase_end_ = absl::InfiniteDuration();
    }
  }
  switch (event->kind) {
    case Kind::kUsage: {
      const bool more = tally_.Add(event->message_id, event->usage);
      result_.tallied = tally_.total();
      if (result_.tallied.cost_usd == 0) {
        result_.tallied.cost_usd = context_.budget.prices.Cost(result_.tallied);
      }
      result_.usage = result_.tallied;
      if (!more) event->kind = Kind::kRaw;  // told before: nothing but the line is new
      return more || !event->raw.empty();
    }
    case Kind::kRateLimit:
      if (event->hard && event->resets_at != absl::InfinitePast()) {
        const absl::Duration wait =
            std::min(event->resets_at - absl::Now(), context_.longest_rate_limit);
        clock_.HoldUntil(MonotonicNow() + wait);
      } else if (!event->hard && event->text == "allowed") {
        clock_.Release();
      }
      return true;
    case Kind::kWaiting:
      lock.Release();
      if (context_.stop_when_waiting) End(AgentEnd::kWaiting, event->text);
      return true;
    case Kind::kResult:
      lock.Release();
      TakeResult(event);
      return true;
    default:
      return true;
  }
}

void CliRun::TakeResult(AgentEvent* event) {
  if (resuming_ && event->is_error && Refused(event->text)) {
    refused_ = true;
    event->kind = AgentEvent::Kind::kRaw;  // of an attempt, not of the run
    if (phase_ == Phase::kRunning) EnterPhase(Phase::kLingering, absl::ZeroDuration());
    return;
  }
  absl::MutexLock lock(mutex_);
  result_.text = event->text;
  if (event->turns > 0) result_.turns = event->turns;
  if (event->has_usage) {
    result_.usage = event->usage;
    if (result_.usage.cost_usd == 0) {
      result_.usage.cost_usd = context_.budget.prices.Cost(result_.usage);
    }
  }
  if (phase_ != Phase::kRunning && phase_ != Phase::kLingering && phase_ != Phase::kDraining)
    return;
  if (result_.reason != AgentEnd::kNone && phase_ == Phase::kDraining) return;
  result_.status = event->is_error ? AgentStatus::kFailed : AgentStatus::kCompleted;
  result_.reason = event->is_error ? AgentEnd::kError : AgentEnd::kSuccess;
  result_.detail = event->is_error ? event->text : "";
  if (phase_ == Phase::kRunning) EnterPhase(Phase::kLingering, context_.result_grace);
}

bool CliRun::Refused(absl::string_view text) const {
  return !driver_->resume_refused.empty() && RE2::PartialMatch(text, refused_pattern_);
}

// A line that is no event, or the beginning of one that does not come to its end.
void CliRun::LookForQuestion(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || text.size() > kLongestQuestion || text[0] == '{') return;
  if (text == last_question_ || !RE2::PartialMatch(text, asks_)) return;
  last_question_ = std::string(text);
  AgentEvent event;
  event.kind = AgentEvent::Kind::kWaiting;
  event.text = last_question_;
  if (TakeEvent(&event)) journal_->Record(std::move(event));
}

void CliRun::CheckBudget() {
  const AgentResult now = result();
  const AgentBudget& budget = context_.budget;
  if (budget.turns > 0 && now.turns > budget.turns) {
    End(AgentEnd::kTurns, absl::StrCat("more than ", budget.turns, " turns"));
  } else if (budget.cost_usd > 0 && now.usage.cost_usd > budget.cost_usd) {
    End(AgentEnd::kCost, absl::StrCat("more than ", budget.cost_usd, " US dollars"));
  }
}

void CliRun::CheckTime() {
  const RunClock::Tick now = MonotonicNow();
  if (phase_ == Phase::kRunning) {
    switch (clock_.Check(now)) {
      case RunClock::Due::kNone:
        break;
      case RunClock::Due::kInactivity:
        return End(AgentEnd::kInactivity,
                   absl::StrCat("no output for ", absl::FormatDuration(context_.inactivity)));
      case RunClock::Due::kWall:
        return End(AgentEnd::kWall,
                   absl::StrCat("it ran for ", absl::FormatDuration(context_.budget.wall)));
    }
  }
  if (now < phase_end_) return;
  switch (phase_) {
    case Phase::kRunning:
    case Phase::kEnded:
      break;
    case Phase::kLingering:
      process_->Terminate();
      EnterPhase(Phase::kStopping, context_.stop_grace);
      break;
    case Phase::kStopping:
    case Phase::kDraining:
      process_->GiveUpOutput();
      Finish();
      break;
  }
}

void CliRun::End(AgentEnd reason, std::string detail) {
  if (phase_ == Phase::kLingering) {
    EnterPhase(Phase::kLingering, absl::ZeroDuration());  // it has its result: only no more waiting
    return;
  }
  if (phase_ != Phase::kRunning) return;
  {
    absl::MutexLock lock(mutex_);
    result_.status = AgentStatus::kFailed;
    result_.reason = reason;
    result_.detail = std::move(detail);
  }
  refused_ = false;
  ended_by_us_ = true;
  process_->Terminate();
  EnterPhase(Phase::kStopping, context_.stop_grace);
}

void CliRun::EnterPhase(Phase phase, absl::Duration limit) {
  phase_ = phase;
  phase_end_ = MonotonicNow() + limit;
}

void CliRun::ProcessEnded() {
  const absl::StatusOr<ExitStatus> exit = process_->TakeExit();
  exited_ = true;
  absl::MutexLock lock(mutex_);
  if (exit.ok()) {
    result_.exit = *exit;
  } else if (result_.reason == AgentEnd::kNone) {
    result_.status = AgentStatus::kFailed;
    result_.reason = AgentEnd::kLost;
    result_.detail = exit.status().message();
  }
  EnterPhase(Phase::kDraining, kDrain);
}

void CliRun::Finish() {
  if (phase_ == Phase::kEnded) return;
  const int64_t torn = process_->unfinished_bytes();
  const absl::Status removed = process_->Remove();
  if (FallBack()) return;
  phase_ = Phase::kEnded;
  AgentResult end;
  {
    absl::MutexLock lock(mutex_);
    result_.torn_bytes = torn;
    if (result_.reason == AgentEnd::kNone) {
      result_.status = AgentStatus::kFailed;
      result_.reason = refused_ ? AgentEnd::kResumeRefused : AgentEnd::kNoResult;
      result_.detail = absl::StrCat("it told no result and ", Describe(result_.exit),
                                    last_stderr_.empty() ? "" : ": ", last_stderr_);
    }
    if (!removed.ok() && !absl::IsNotFound(removed)) {
      absl::StrAppend(&result_.detail, result_.detail.empty() ? "" : "; ", removed.message());
    }
    end = result_;
  }
  journal_->End(std::move(end));
}

bool CliRun::FallBack() {
  if (!refused_) return false;
  {
    absl::MutexLock lock(mutex_);
    if (result_.resume_refused) return false;  // once
    result_.resume_refused = true;
    if (AgentPrompt(context_, /*resume=*/false).empty()) return false;
    // Whatever the refusal looked like, it was not the end of the run.
    result_ = {.status = AgentStatus::kRunning, .resume_refused = true};
  }
  AgentEvent note;
  note.text =
      absl::StrCat("session ", context_.resume, " cannot be resumed; a fresh one is started");
  journal_->Record(std::move(note));
  const absl::Status started = Launch(/*resume=*/false);
  if (started.ok()) return true;
  absl::MutexLock lock(mutex_);
  result_.detail = started.message();
  result_.reason = AgentEnd::kResumeRefused;
  result_.status = AgentStatus::kFailed;
  return false;
}

void CliRun::ArmTimer() {
  RunClock::Tick next = phase_end_;
  if (phase_ == Phase::kRunning) next = std::min(next, clock_.Deadline());
  itimerspec when{};
  if (next != absl::InfiniteDuration()) {
    // A value of zero would disarm it.
    when.it_value = absl::ToTimespec(std::max(next, absl::Duration(absl::Nanoseconds(1))));
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

AgentResult CliRun::result() const {
  AgentResult copy;
  {
    absl::MutexLock lock(mutex_);
    copy = result_;
  }
  copy.log_error = journal_->log_error();
  return copy;
}

void CliRun::Stop() {
  stop_ = true;
  journal_->Poke();
}

}  // namespace berth
