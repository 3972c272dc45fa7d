// From a policy to the plan that the helper carries out on this machine: what to mount, which
// filter to load, which limits to set. Everything that can be wrong with a policy here is found
// here, before anything is made.
//
//   PolicyCompiler compiler(TierReport::Probe());            // one for a runtime
//   ABSL_ASSIGN_OR_RETURN(CompiledPolicy compiled, compiler.Compile(policy, {.home = home}));
//   request.plan = compiled.plan.Encode();
//
// Names of the host are resolved once, here; the helper follows no symlink that a sandbox could
// have made. Errors: NotFound for a path that is not there, InvalidArgument for one that cannot be
// shown, FailedPrecondition (with the remedy) for what cannot be enforced here.
// Thread-safe.
#ifndef BERTH_SANDBOX_COMPILE_H_
#define BERTH_SANDBOX_COMPILE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/policy.h"
#include "sandbox/tiers.h"

namespace berth {

namespace seccomp {
struct FilterSpec;
}

// What a policy leaves to the place where it is used.
struct CompileOptions {
  std::string home = {};  // of the workload; absolute, or "" for none
  // Of the tier landlock, which has no private folders: a writable one instead of them.
  std::string tmp_dir = {};
  // Where the changes of the first, second, … copy-on-write path go: <dir>/0/upper, …
  std::string changes_dir = {};
  // Never seen, also below something that is: berth's own state, others' logs.
  std::vector<std::string> secrets = {};
  // Of an allow-list of domains: what its proxy wants to be shown, different for each start.
  std::string proxy_token = {};
};

struct CompiledPolicy {
  Tier tier = Tier::kNamespaces;
  launcher::SandboxPlan plan;
  // Folders of the host that are seen copy-on-write, resolved; changes of the first go to
  // <changes_dir>/0, and so on.
  std::vector<std::string> copy_on_write;
  // Where there is a list of what git is not to add; "" is nowhere. See SetGitExcludes.
  std::string git_excludes;
  // What is weaker than the policy says, because it was asked for so (tier landlock), or because a
  // limit has no better place here.
  std::vector<std::string> weaker;
};

class PolicyCompiler {
 public:
  explicit PolicyCompiler(TierReport report) : report_(std::move(report)) {}

  absl::StatusOr<CompiledPolicy> Compile(const Policy& policy, const CompileOptions& options);
  const TierReport& report() const { return report_; }

 private:
  absl::StatusOr<std::string> Filter(const seccomp::FilterSpec& spec);
  absl::Status SetFilter(const Policy& policy, CompiledPolicy* out);

  const TierReport report_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::string> filters_ ABSL_GUARDED_BY(mutex_);
};

// Has git obey that list, whatever it is told besides by these variables.
void SetGitExcludes(absl::string_view file, std::vector<std::string>* env);

// Whether a folder can be seen under that plan, and so be a working directory.
bool PlanShows(const launcher::SandboxPlan& plan, absl::string_view path);

}  // namespace berth

#endif  // BERTH_SANDBOX_COMPILE_H_
