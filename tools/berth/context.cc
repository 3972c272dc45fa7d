#include "tools/berth/context.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "tools/berth/exit_code.h"
#include "tools/berth/suggest.h"

namespace berth::cli {

absl::StatusOr<Runtime*> Context::GetRuntime() {
  if (runtime_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Runtime>> runtime = Runtime::Create({.state_dir = state_dir});
    if (!runtime.ok()) {
      return WithHint(runtime.status(),
                      "choose a directory of your own with --state-dir or BERTH_STATE_DIR");
    }
    runtime_ = *std::move(runtime);
  }
  return runtime_.get();
}

absl::StatusOr<std::unique_ptr<Session>> Context::OpenSession(absl::string_view name_or_handle) {
  ABSL_ASSIGN_OR_RETURN(Runtime * runtime, GetRuntime());
  const bool handle = absl::StrContains(name_or_handle, ':');
  absl::StatusOr<std::unique_ptr<Session>> session =
      handle ? runtime->Open(name_or_handle) : runtime->Find(name_or_handle);
  if (!absl::IsNotFound(session.status())) return session;
  return NoSuchSession(session.status(), name_or_handle);
}

absl::Status Context::NoSuchSession(absl::Status status, absl::string_view name) {
  std::vector<std::string> names;
  if (const absl::StatusOr<std::vector<SessionInfo>> sessions = runtime_->List(); sessions.ok()) {
    for (const SessionInfo& info : *sessions) names.push_back(info.name);
  }
  return WithHint(std::move(status),
                  DidYouMean(name, names, "'berth ls' lists the sessions there are"));
}

}  // namespace berth::cli
