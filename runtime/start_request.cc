#include "runtime/start_request.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "sandbox/base/errno_status.h"

namespace berth {

absl::Status CheckCommand(const Command& command) {
  const std::vector<std::string>& argv = command.argv();
  if (argv.empty() || argv[0].empty()) return absl::InvalidArgumentError("the command is empty");
  for (size_t i = 0; i < argv.size(); ++i) {
    if (absl::StrContains(argv[i], '\0')) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", i, " of the command has a NUL byte"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ResolveCwd(absl::string_view cwd) {
  if (cwd.empty()) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof(here)) == nullptr)
      return ErrnoStatus(errno, "find the working directory");
    return std::string(here);
  }
  if (absl::StrContains(cwd, '\0'))
    return absl::InvalidArgumentError("the working directory has a NUL byte");
  if (cwd[0] != '/') {
    return absl::InvalidArgumentError(
        absl::StrCat("working directory '", absl::CHexEscape(cwd), "': give an absolute path"));
  }
  return std::string(cwd);
}

absl::StatusOr<std::vector<std::string>> ResolveEnv(const Env& env) { return env.Resolve(environ); }

}  // namespace berth
