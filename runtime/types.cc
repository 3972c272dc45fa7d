#include "runtime/types.h"

#include <string.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth {

absl::string_view EndReasonName(EndReason reason) {
  switch (reason) {
    case EndReason::kUnknown:
      return "unknown";
    case EndReason::kExited:
      return "exited";
    case EndReason::kSignaled:
      return "signaled";
    case EndReason::kStopped:
      return "stopped";
    case EndReason::kWall:
      return "wall";
    case EndReason::kInactivity:
      return "inactivity";
    case EndReason::kOom:
      return "oom";
    case EndReason::kPids:
      return "pids";
    case EndReason::kViolation:
      return "violation";
  }
  return "unknown";
}

std::string Describe(const ExitStatus& status) {
  if (status.reason == EndReason::kUnknown) return "ended, nobody saw how";
  if (status.reason == EndReason::kExited) return absl::StrCat("exited with code ", status.code);
  const std::string how = status.signal != 0 ? absl::StrCat("killed by signal ", status.signal,
                                                            " (", sigdescr_np(status.signal), ")")
                                             : absl::StrCat("exited with code ", status.code);
  if (status.reason == EndReason::kSignaled) return how;
  return absl::StrCat(how, ", reason: ", EndReasonName(status.reason));
}

absl::string_view DeliveryName(Delivery delivery) {
  switch (delivery) {
    case Delivery::kQueued:
      return "queued";
    case Delivery::kWritten:
      return "written";
    case Delivery::kSubmitted:
      return "submitted";
    case Delivery::kConfirmed:
      return "confirmed";
  }
  return "unknown";
}

}  // namespace berth
