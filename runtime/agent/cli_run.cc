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
#include "runtime/agent/run_ledger.h"
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
constexpr size_t kLongestWords = 1000;

RE2::Options Quietly() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

}  // namespace

CliRun::CliRun(Runtime* runtime, AgentContext context, std::unique_ptr<RunJournal> journal,
               UniqueFd poll, UniqueFd timer)
    : runtime_(runtime),
      context_(std::move(context)),
      driver_(context_.driver),
      journal_(std::move(journal)),
      poll_(std::move(poll)),
      timer_(std::move(timer)),
      asks_(driver_->asks, Quietly()),
      refused_pattern_(driver_->resume_refused, Quietly()),
      ledger_(context_.budget),
      clock_(context_.inactivity, context_.budget.wall, MonotonicNow()) {}

absl::StatusOr<std::unique_ptr<CliRun>> CliRun::Start(Runtime* runtime, AgentContext context) {
  UniqueFd poll(epoll_create1(EPOLL_CLOEXEC));
  UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!poll.ok() || !timer.ok()) return ErrnoStatus(errno, "make the descriptors of a run");
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<RunJournal> journal, RunJournal::Create(context));
  auto run = absl::WrapUnique(new CliRun(runtime, std::move(context), std::move(journal),
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
  spec.durable = false;
  spec.output_bytes = kKeptOutput;
  if (!context_.story_id.empty()) spec.env.Set("BERTH_STORY", context_.story_id);
  if (!context_.agent_name.empty()) spec.env.Set("BERTH_AGENT", context_.agent_name);
  if (context_.mcp_port != 0) spec.env.Set("BERTH_MCP_URL", McpUrl(context_));
  parser_ = driver_->make_parser();
  exited_ = refused_ = false;
  resuming_ = resume;
  last_words_.clear();
  ABSL_ASSIGN_OR_RETURN(
      process_, AgentProcess::Start(runtime_, std::move(spec), AgentPrompt(context_, resume),
                                    context_.max_line));
  for (const int fd : {process_->stdout_fd(), process_->stderr_fd(), process_->exit_fd()}) {
    if (fd < 0) continue;
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
  ledger_.Begin(resume);
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
  const absl::string_view text = line.line.text;
  std::vector<AgentEvent> events;
  if (line.from_stderr || line.line.truncated_bytes > 0) {
    events.emplace_back().from_stderr = line.from_stderr;
  } else {
    parser_->Parse(text, &events);
  }
  // What is JSON and not known is an event of a newer version; on standard error nothing is.
  const bool words = !text.empty() && events.size() == 1 &&
                     events[0].kind == AgentEvent::Kind::kRaw &&
                     (line.from_stderr || text[0] != '{');
  events[0].truncated_bytes = line.line.truncated_bytes;
  events[0].raw = text;
  for (AgentEvent& event : events) {
    if (TakeEvent(&event)) journal_->Record(std::move(event));
  }
  if (words) TakeWords(text);
  if (const RunLedger::Excess excess = ledger_.OverBudget(0); excess.reason != AgentEnd::kNone) {
    End(excess.reason, excess.detail);
  }
}

// From either stream: on a terminal the two are one.
void CliRun::TakeWords(absl::string_view words) {
  last_words_ = words.substr(0, kLongestWords);
  if (resuming_ && Refused(words)) refused_ = true;
  LookForQuestion(words);
}

bool CliRun::TakeEvent(AgentEvent* event) {
  using Kind = AgentEvent::Kind;
  if (event->kind == Kind::kText || event->kind == Kind::kToolCall) resuming_ = false;
  if (event->new_turn && phase_ == Phase::kLingering) {  // it was not its last word
    ledger_.Reopen();
    phase_ = Phase::kRunning;
    phase_end_ = absl::InfiniteDuration();
  }
  if (!ledger_.Add(*event)) {
    event->kind = Kind::kRaw;  // told before: nothing but the line is new
    return !event->raw.empty();
  }
  if (event->kind == Kind::kRateLimit) TakeRateLimit(*event);
  if (event->kind == Kind::kResult) TakeResult(event);
  if (event->kind == Kind::kWaiting && context_.stop_when_waiting) {
    End(AgentEnd::kWaiting, event->text);
  }
  return true;
}

void CliRun::TakeRateLimit(const AgentEvent& event) {
  if (event.hard && event.resets_at != absl::InfinitePast()) {
    const absl::Duration wait =
        std::min(event.resets_at - absl::Now(), context_.longest_rate_limit);
    clock_.HoldUntil(MonotonicNow() + wait);
  } else if (!event.hard && event.text == "allowed") {
    clock_.Release();
  }
}

void CliRun::TakeResult(AgentEvent* event) {
  if (resuming_ && event->is_error && Refused(event->text)) {
    refused_ = true;
    event->kind = AgentEvent::Kind::kRaw;  // of an attempt, not of the run
    if (phase_ == Phase::kRunning) EnterPhase(Phase::kLingering, absl::ZeroDuration());
    return;
  }
  ledger_.AddResult(*event);
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
  ledger_.Fail(reason, detail);
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
  if (exit.ok()) {
    ledger_.SetExit(*exit);
  } else {
    ledger_.Fail(AgentEnd::kLost, exit.status().message());
  }
  EnterPhase(Phase::kDraining, kDrain);
}

void CliRun::Finish() {
  if (phase_ == Phase::kEnded) return;
  const int64_t torn = process_->unfinished_bytes();
  const absl::Status removed = process_->Remove();
  if (FallBack()) return;
  phase_ = Phase::kEnded;
  ledger_.SetTornBytes(torn);
  ledger_.Fail(refused_ ? AgentEnd::kResumeRefused : AgentEnd::kNoResult,
               absl::StrCat("it told no result and ", Describe(ledger_.result().exit),
                            last_words_.empty() ? "" : ": ", last_words_));
  if (!removed.ok() && !absl::IsNotFound(removed)) ledger_.AddDetail(removed.message());
  journal_->End(ledger_.result());
}

bool CliRun::FallBack() {
  if (!refused_ || std::exchange(fell_back_, true)) return false;
  ledger_.SetResumeRefused();
  if (AgentPrompt(context_, /*resume=*/false).empty()) return false;
  // Whatever the refusal looked like, it was not the end of the run.
  ledger_.ForgetAttempt();
  AgentEvent note;
  note.text =
      absl::StrCat("session ", context_.resume, " cannot be resumed; a fresh one is started");
  journal_->Record(std::move(note));
  const absl::Status started = Launch(/*resume=*/false);
  if (started.ok()) return true;
  ledger_.Fail(AgentEnd::kResumeRefused, started.message());
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
  AgentResult now = ledger_.result();
  now.log_error = journal_->log_error();
  return now;
}

void CliRun::Stop() {
  stop_ = true;
  journal_->Poke();
}

}  // namespace berth
