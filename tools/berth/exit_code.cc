#include "tools/berth/exit_code.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace berth::cli {
namespace {

constexpr absl::string_view kHint = "berth/hint";
constexpr absl::string_view kCode = "berth/exit-code";

}  // namespace

absl::Status WithHint(absl::Status status, absl::string_view hint) {
  if (!status.ok() && !status.GetPayload(kHint).has_value()) {
    status.SetPayload(kHint, absl::Cord(hint));
  }
  return status;
}

std::string HintOf(const absl::Status& status) {
  const std::optional<absl::Cord> hint = status.GetPayload(kHint);
  return hint.has_value() ? std::string(*hint) : "";
}

absl::Status WithExitCode(absl::Status status, int code) {
  if (!status.ok()) status.SetPayload(kCode, absl::Cord(absl::StrCat(code)));
  return status;
}

int ExitCodeOf(const absl::Status& status) {
  int code = kFailed;
  if (absl::IsDeadlineExceeded(status)) code = kTimedOut;
  if (absl::IsInvalidArgument(status)) code = kUsage;
  if (const std::optional<absl::Cord> given = status.GetPayload(kCode); given.has_value()) {
    (void)absl::SimpleAtoi(std::string(*given), &code);
  }
  return code;
}

absl::Status StartFailure(absl::Status status) {
  // The launcher names the step: only this one is about the program itself.
  if (!absl::StartsWith(status.message(), "execute '")) return status;
  if (absl::IsNotFound(status)) {
    return WithHint(
        WithExitCode(std::move(status), kNotFound),
        "check the spelling and the PATH that the command gets (-e PATH=…, --env inherit)");
  }
  return WithExitCode(std::move(status), kNotExecutable);
}

std::optional<int> ExitCodeOf(const ExitStatus& status) {
  switch (status.reason) {
    case EndReason::kUnknown:
      return std::nullopt;
    case EndReason::kWall:
    case EndReason::kInactivity:
      return kTimedOut;
    default:
      return status.ShellCode();
  }
}

}  // namespace berth::cli
