#include "runtime/docker/container_truth.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "runtime/docker/engine_client.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

// How a container ended whose relay was not there to see it: a code over 128 is a signal, as the
// engine tells it.
ExitStatus FromCode(int64_t code, bool oom) {
  ExitStatus status;
  if (code > 128 && code <= 192) {
    status.signal = static_cast<int>(code) - 128;
    status.reason = EndReason::kSignaled;
  } else {
    status.code = static_cast<int>(std::clamp<int64_t>(code, 0, 255));
    // 255 is what an engine says of a container that ended while it was away itself.
    status.reason = code == 255 ? EndReason::kUnknown : EndReason::kExited;
  }
  if (oom) status.reason = EndReason::kOom;
  return status;
}

bool HasEnded(absl::string_view status) {
  return status == "exited" || status == "dead" || status == "removing" || status == "stopped";
}

// Of one that has not ended.
ContainerTruth FromStatus(absl::string_view status, bool running) {
  ContainerTruth truth;
  if (running) {
    truth.state = SessionState::kRunning;
    truth.reason = absl::StrCat("its container is ", status.empty() ? "running" : status);
  } else if (status == "created" || status == "configured" || status == "initialized") {
    truth.state = SessionState::kStarting;
    truth.reason = "its container is being started";
  } else {
    truth.reason =
        absl::StrCat("the engine tells a state that berth does not know: '", status, "'");
  }
  return truth;
}

}  // namespace

std::optional<ExitStatus> WrittenEnd(const Store& store, const std::string& uid) {
  const absl::StatusOr<UniqueFd> folder = store.OpenSessionDir(uid);
  if (!folder.ok()) return std::nullopt;
  const UniqueFd file(openat(folder->get(), "end", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  char text[128];
  const ssize_t n = file.ok() ? read(file.get(), text, sizeof(text)) : -1;
  if (n <= 0) return std::nullopt;
  const std::vector<absl::string_view> words = absl::StrSplit(
      absl::string_view(text, static_cast<size_t>(n)), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  ExitStatus status;
  int oom = 0, stopped = 0, reason = 0;
  if (words.size() != 5 || !absl::SimpleAtoi(words[0], &status.code) ||
      !absl::SimpleAtoi(words[1], &status.signal) || !absl::SimpleAtoi(words[2], &oom) ||
      !absl::SimpleAtoi(words[3], &stopped) || !absl::SimpleAtoi(words[4], &reason)) {
    return std::nullopt;
  }
  status.reason = reason < 0           ? EndReason::kUnknown
                  : reason != 0        ? static_cast<EndReason>(reason)
                  : oom != 0           ? EndReason::kOom
                  : stopped != 0       ? EndReason::kStopped
                  : status.signal != 0 ? EndReason::kSignaled
                                       : EndReason::kExited;
  return status;
}

ContainerTruth TruthOfInspect(const absl::StatusOr<nlohmann::json>& answer) {
  ContainerTruth truth;
  if (absl::IsNotFound(answer.status())) {
    truth.state = SessionState::kExited;
    truth.reason = "its container was removed";
    return truth;
  }
  if (!answer.ok()) {
    truth.reason = answer.status().message();
    return truth;
  }
  const std::string status = TextAt(*answer, "/State/Status");
  const bool running = TruthAt(*answer, "/State/Running");
  if (running || !HasEnded(status)) return FromStatus(status, running);
  truth.state = SessionState::kExited;
  truth.exit =
      FromCode(NumberAt(*answer, "/State/ExitCode", 0), TruthAt(*answer, "/State/OOMKilled"));
  truth.reason = Describe(truth.exit);
  return truth;
}

std::optional<ContainerTruth> TruthOfListing(const nlohmann::json& entry) {
  const std::string status = TextAt(entry, "/State");
  if (HasEnded(status)) return std::nullopt;
  return FromStatus(status, status == "running" || status == "paused" || status == "restarting");
}

}  // namespace berth
