// The options that put a command under a policy: of run, start and `policy show`.
#ifndef BERTH_TOOLS_BERTH_POLICY_OPTIONS_H_
#define BERTH_TOOLS_BERTH_POLICY_OPTIONS_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/policy.h"
#include "tools/berth/arguments.h"

namespace berth::cli {

class PolicyOptions {
 public:
  void AddTo(Arguments* arguments);

  // Whether any of them was given.
  bool any() const;
  // Whether what it changes in the workspace is kept apart.
  bool copy_on_write() const { return workspace_ == "cow"; }
  // The policy; none if none of the options was given. `workspace`: of a preset, where no
  // --workspace names one; "" is this process's directory. `inherits`: the environment is all of
  // this one's, as the person said.
  absl::StatusOr<std::optional<Policy>> ToPolicy(absl::string_view workspace, bool inherits) const;

 private:
  absl::StatusOr<Policy::Builder> Base(absl::string_view workspace) const;
  absl::Status SetNetwork(Policy::Builder* builder) const;

  std::string file_, preset_, net_, tier_, workspace_;
  std::vector<std::string> read_only_, read_write_, hidden_;
  int64_t memory_ = -1, pids_ = -1;
  double cpus_ = -1;
  bool report_files_ = false;
};

// A policy of a person's own file, which may ask for anything.
absl::StatusOr<Policy> ReadPolicy(const std::string& file);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_POLICY_OPTIONS_H_
