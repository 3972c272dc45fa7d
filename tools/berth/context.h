// Context: what every command works with. Made once by Cli, used by one thread.
#ifndef BERTH_TOOLS_BERTH_CONTEXT_H_
#define BERTH_TOOLS_BERTH_CONTEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/runtime.h"
#include "runtime/session.h"

namespace berth::cli {

class Context {
 public:
  // Made when it is first asked for: `berth version` needs none.
  absl::StatusOr<Runtime*> GetRuntime();
  // A session by its name or its handle. NotFound with a hint: the name that was meant, or how to
  // find it.
  absl::StatusOr<std::unique_ptr<Session>> OpenSession(absl::string_view name_or_handle);

  std::string state_dir;           // --state-dir; "" is the default
  bool json = false;               // --json
  std::vector<std::string> words;  // what stands behind the options, byte for byte

 private:
  absl::Status NoSuchSession(absl::Status status, absl::string_view name);

  std::unique_ptr<Runtime> runtime_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_CONTEXT_H_
