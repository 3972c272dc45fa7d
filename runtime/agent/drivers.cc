#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/driver.h"

namespace berth {

absl::StatusOr<const AgentDriver*> FindAgentDriver(absl::string_view name) {
  std::string names;
  for (const AgentDriver* driver : {&ClaudeDriver(), &CodexDriver(), &GeminiDriver()}) {
    if (driver->name == name) return driver;
    absl::StrAppend(&names, names.empty() ? "" : ", ", driver->name);
  }
  return absl::NotFoundError(absl::StrCat("there is no agent '", name, "'; there is: ", names,
                                          ", openai-api, gemini-api"));
}

}  // namespace berth
