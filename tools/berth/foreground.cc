#include "tools/berth/foreground.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

Pump* Foreground::AddInput(int from, UniqueFd to) {
  inputs_.push_back(std::make_unique<Pump>(from, std::move(to)));
  loop_.Add(inputs_.back().get());
  return inputs_.back().get();
}

void Foreground::AddOutput(UniqueFd from, int to) {
  outputs_.push_back(std::make_unique<Pump>(std::move(from), to));
  loop_.Add(outputs_.back().get());
}

absl::Status Foreground::Kill() {
  loop_.SetTimer(absl::InfiniteFuture(), nullptr);
  return program_->Stop(absl::ZeroDuration()).status();
}

absl::Status Foreground::Forward(int signal) {
  // Ended already: its end is on the way.
  if (absl::Status sent = program_->Signal(signal);
      !sent.ok() && !absl::IsFailedPrecondition(sent)) {
    return sent;
  }
  return absl::OkStatus();
}

absl::Status Foreground::OnSignals() {
  while (const std::optional<int> signal = signals_->Next()) {
    if (*signal == SIGWINCH) {
      // A program that is ending has no terminal to resize any more.
      if (follows_size_) program_->Resize(CurrentSize()).IgnoreError();
      continue;
    }
    const bool ends = *signal == SIGINT || *signal == SIGTERM || *signal == SIGHUP;
    if (ends && ++asked_ > 1) {
      abandoned_ = true;
      ABSL_RETURN_IF_ERROR(Kill());
      continue;
    }
    ABSL_RETURN_IF_ERROR(Forward(*signal));
    if (*signal == SIGTERM || *signal == SIGHUP) {
      loop_.SetTimer(absl::Now() + grace_, [this] { return Kill(); });
    }
  }
  return absl::OkStatus();
}

absl::Status Foreground::OnExit() {
  exit_watch_->Stop();
  loop_.SetTimer(absl::InfiniteFuture(), nullptr);
  // It has ended; what is waited for is only the answer of whoever knows how.
  ABSL_ASSIGN_OR_RETURN(exit_, program_->Wait(absl::Now() + absl::Seconds(10)));
  // Whatever it left running would hold the streams open.
  return program_->Stop(absl::ZeroDuration()).status();
}

bool Foreground::OutputDone() const {
  return std::all_of(outputs_.begin(), outputs_.end(),
                     [](const auto& output) { return output->done(); });
}

bool Foreground::Detached() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const auto& input) { return input->end() == Pump::End::kStopped; });
}

absl::Status Foreground::CheckReaders() {
  const bool gone = std::any_of(outputs_.begin(), outputs_.end(), [](const auto& output) {
    return output->end() == Pump::End::kReaderGone;
  });
  if (!gone || asked_ > 0 || exit_.has_value()) return absl::OkStatus();
  asked_ = 1;
  loop_.SetTimer(absl::Now() + grace_, [this] { return Kill(); });
  return Forward(SIGHUP);
}

absl::StatusOr<std::optional<ExitStatus>> Foreground::Run() {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd exit, program_->ExitFd());
  Watch signals(signals_->fd(), [this] { return OnSignals(); });
  exit_watch_ = std::make_unique<Watch>(exit.get(), [this] { return OnExit(); });
  loop_.Add(&signals);
  loop_.Add(exit_watch_.get());
  absl::Status failure;
  const auto done = [&] {
    failure = CheckReaders();
    return !failure.ok() || Detached() || (exit_.has_value() && (OutputDone() || abandoned_));
  };
  ABSL_RETURN_IF_ERROR(loop_.Run(done));
  ABSL_RETURN_IF_ERROR(failure);
  return exit_;
}

}  // namespace berth::cli
