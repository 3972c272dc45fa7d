// NativePolicies: what a policy changes about a start: the plan that the helper gets, the working
// directory, and the variables that would lead to what cannot be seen.
//
// Probes the machine when the first policy comes, or leaves it to the first start to find out what
// it can do, and keeps compiled filters. Thread-safe.
#ifndef BERTH_RUNTIME_NATIVE_NATIVE_POLICY_H_
#define BERTH_RUNTIME_NATIVE_NATIVE_POLICY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/compile.h"
#include "sandbox/policy.h"

namespace berth {

// A start that is being put together. What it points to is changed as the policy needs it.
struct PolicyStart {
  std::vector<std::string>* env = nullptr;  // "KEY=value"
  std::string* cwd = nullptr;               // absolute
  bool cwd_given = false;                   // by the caller: then it stays
  bool inherits_all = false;                // the environment is the host's
  std::string* plan = nullptr;              // gets the encoded plan
  std::string session_dir = {};             // "": a process of its own, which has none
  bool hopes = false;                       // that the machine can do it: see Hopes
};

class NativePolicies {
 public:
  // `secrets`: folders of berth's own, which no policy shows.
  explicit NativePolicies(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}

  // What groups the policy takes on this machine, before the rest of it is worked out; none if that
  // cannot be said.
  cgroups::GroupLimits Limits(const Policy& policy, bool hopes);
  // Returns how the policy is enforced.
  absl::StatusOr<CompiledPolicy> Apply(const Policy& policy, const PolicyStart& start);

  // Whether a start may hope: nobody has probed the machine yet.
  bool Hopes() const;
  // After a start that hoped has failed: probes the machine, if nobody has since. True if it can do
  // less than was hoped for: then the policy is to be applied once more.
  bool Verify();

 private:
  std::shared_ptr<PolicyCompiler> Compiler(bool hopes);

  const std::vector<std::string> secrets_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<PolicyCompiler> compiler_ ABSL_GUARDED_BY(mutex_);
  bool probed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace berth

#endif  // BERTH_RUNTIME_NATIVE_NATIVE_POLICY_H_
