#include "runtime/agent/agent_run.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/agent/api_loop.h"
#include "runtime/agent/api_run.h"
#include "runtime/agent/cli_run.h"
#include "runtime/agent/command_line.h"
#include "runtime/agent/driver.h"
#include "runtime/agent/event.h"
#include "runtime/agent/result.h"
#include "runtime/record/random_id.h"
#include "runtime/record/session_name.h"
#include "runtime/runtime.h"

namespace berth {

absl::StatusOr<std::unique_ptr<AgentRun>> AgentRun::Start(Runtime* runtime, AgentContext context) {
  ABSL_RETURN_IF_ERROR(CheckAgentContext(context));
  std::unique_ptr<ApiDialect> dialect;
  if (context.driver != nullptr) {
    context.agent = context.driver->name;
  } else if (dialect = MakeApiDialect(context.agent, context.api, context.prompt);
             dialect == nullptr) {
    ABSL_ASSIGN_OR_RETURN(context.driver, FindAgentDriver(context.agent));
  }
  if (context.place.name.empty()) {
    ABSL_ASSIGN_OR_RETURN(const std::string random, RandomHexId());
    context.place.name = absl::StrCat(context.agent, "-", random.substr(0, 12));
  }
  ABSL_RETURN_IF_ERROR(CheckSessionName(context.place.name));
  if (dialect != nullptr) return ApiRun::Start(std::move(context), std::move(dialect));
  ABSL_RETURN_IF_ERROR(CheckMcpReach(context));
  return CliRun::Start(runtime, std::move(context));
}

absl::StatusOr<AgentResult> AgentRun::Drive(absl::Time deadline) {
  while (!finished()) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<AgentEvent> event, Next(deadline));
    if (!event.has_value() && !finished() && absl::Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("run ", run_id(), ": it goes on at the deadline"));
    }
  }
  return result();
}

}  // namespace berth
