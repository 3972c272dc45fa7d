#include "runtime/docker/docker_process.h"

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/docker/relay/signals.h"

namespace berth {
namespace {

constexpr absl::Duration kKillTime = absl::Seconds(10);

}  // namespace

DockerProcess::~DockerProcess() { Stop(absl::ZeroDuration()).IgnoreError(); }

absl::Status DockerProcess::Signal(int signal) {
  if (signal == 0) return relay_->Signal(0);
  const int disguised = relay::Disguise(signal);
  if (disguised < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("signal ", signal, " cannot be sent into a container"));
  }
  ABSL_RETURN_IF_ERROR(relay_->Signal(disguised));
  sent_ |= uint64_t{1} << (signal - 1);
  return absl::OkStatus();
}

absl::StatusOr<ExitStatus> DockerProcess::Wait(absl::Time deadline) {
  ABSL_ASSIGN_OR_RETURN(ExitStatus status, relay_->Wait(deadline));
  const bool ours = status.signal != 0 && (sent_ >> (status.signal - 1) & 1) != 0;
  if (status.reason != EndReason::kUnknown) {
    status.reason = stopping_ || ours    ? EndReason::kStopped
                    : status.signal != 0 ? EndReason::kSignaled
                                         : EndReason::kExited;
  }
  return status;
}

absl::StatusOr<ExitStatus> DockerProcess::Stop(absl::Duration grace) {
  if (absl::StatusOr<ExitStatus> ended = Wait(absl::InfinitePast()); ended.ok()) {
    relay_->Stop(absl::ZeroDuration()).IgnoreError();
    return ended;
  }
  stopping_ = true;
  if (grace > absl::ZeroDuration() && relay_->Signal(relay::TermTree()).ok() &&
      relay_->Wait(absl::Now() + grace).ok()) {
    return Wait(absl::Now());
  }
  // The relay ends when the inside has told that nothing is left of the tree.
  relay_->Signal(relay::KillTree()).IgnoreError();
  const absl::Status gone = relay_->Wait(absl::Now() + kKillTime).status();
  relay_->Stop(absl::ZeroDuration()).IgnoreError();
  ABSL_RETURN_IF_ERROR(gone);
  return Wait(absl::Now());
}

absl::StatusOr<Stats> DockerProcess::GetStats() {
  return absl::UnimplementedError(
      "docker counts what a container uses, not what one of its processes does; ask the session");
}

}  // namespace berth
