#include "runtime/native/native_policy.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/record/record.h"
#include "sandbox/cgroups/limit_group.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/compile.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/network/environment.h"
#include "sandbox/policy.h"
#include "sandbox/tiers.h"
#include "sandbox/tiers_from_probe.h"

namespace berth {
namespace {

// The value of a variable; null if it is not there.
std::string* FindVariable(std::vector<std::string>* env, absl::string_view key) {
  for (std::string& entry : *env) {
    if (absl::StartsWith(entry, key) && entry.size() > key.size() && entry[key.size()] == '=') {
      return &entry;
    }
  }
  return nullptr;
}

absl::string_view ValueOf(const std::string* entry) {
  if (entry == nullptr) return "";
  return absl::string_view(*entry).substr(entry->find('=') + 1);
}

// A host's TMPDIR that is not seen inside would make every mktemp fail.
void FixTmpdir(const launcher::SandboxPlan& plan, std::vector<std::string>* env) {
  std::string* entry = FindVariable(env, "TMPDIR");
  if (entry == nullptr || PlanShows(plan, ValueOf(entry))) return;
  if (PlanShows(plan, "/tmp")) {
    *entry = "TMPDIR=/tmp";
  } else {
    env->erase(env->begin() + (entry - env->data()));
  }
}

// What was set for the host's own proxy would lead nowhere.
void SetProxy(absl::string_view token, std::vector<std::string>* env) {
  for (std::string& entry : network::ProxyEnvironment(network::kProxyPort, token)) {
    const absl::string_view key = absl::string_view(entry).substr(0, entry.find('='));
    if (std::string* there = FindVariable(env, key); there != nullptr) {
      *there = std::move(entry);
    } else {
      env->push_back(std::move(entry));
    }
  }
}

// What there is of it: the folder of a session that is only being checked is not.
std::string RealPath(const std::string& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(path, error).string();
}

// Where a program begins whose caller's own directory is not seen: in what it may write to.
std::string StartingPlace(const Policy& policy) {
  for (const Policy::Path& path : policy.paths()) {
    if (path.access == Policy::Access::kReadWrite || path.access == Policy::Access::kCopyOnWrite) {
      return path.seen();
    }
  }
  return "/";
}

}  // namespace

std::shared_ptr<PolicyCompiler> NativePolicies::Compiler(bool hopes) {
  absl::MutexLock lock(mutex_);
  if (compiler_ == nullptr || (!probed_ && !hopes)) {
    compiler_ = std::make_shared<PolicyCompiler>(hopes ? HopedTiers() : TierReport::Probe());
    probed_ = !hopes;
  }
  return compiler_;
}

bool NativePolicies::Hopes() const {
  absl::MutexLock lock(mutex_);
  return !probed_;
}

bool NativePolicies::Verify() {
  const std::shared_ptr<PolicyCompiler> compiler = Compiler(/*hopes=*/false);
  const TierReport& report = compiler->report();
  const auto less = [](const Ability& ability) { return ability.state != Ability::State::kOk; };
  return less(report.tier(Tier::kNamespaces)) || less(report.seccomp) || less(report.notify);
}

cgroups::GroupLimits NativePolicies::Limits(const Policy& policy, bool hopes) {
  const absl::StatusOr<LimitPlan> plan =
      PlanLimits(policy.limits(), Compiler(hopes)->report().cgroups);
  return plan.ok() ? plan->group : cgroups::GroupLimits();
}

absl::StatusOr<CompiledPolicy> NativePolicies::Apply(const Policy& policy,
                                                     const PolicyStart& start) {
  if (policy.limits().wall != absl::InfiniteDuration() && start.session_dir.empty()) {
    return absl::InvalidArgumentError("limit 'wall': sessions have it, single processes do not");
  }
  if (start.session_dir.empty()) {
    for (const Policy::Path& path : policy.paths()) {
      if (path.access != Policy::Access::kCopyOnWrite) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("path '", path.path,
                       "': sessions keep the changes of a copy-on-write folder, single "
                       "processes have no place for them"));
    }
  }
  if (start.inherits_all && !policy.inherited_environment()) {
    return absl::InvalidArgumentError(
        "environment: under a policy, all of the host's takes "
        "Relax(dangerous::InheritedEnvironment())");
  }
  CompileOptions options;
  options.home = std::string(ValueOf(FindVariable(start.env, "HOME")));
  options.secrets = secrets_;
  if (!start.session_dir.empty()) {
    options.changes_dir = absl::StrCat(start.session_dir, "/", kChangesFolder);
  }
  // The helper starts a proxy for each such session or program.
  if (policy.network() == Policy::Network::kAllowList) {
    options.proxy_token = network::MakeProxyToken();
    if (options.proxy_token.empty()) return absl::UnavailableError("no random bytes for a token");
    SetProxy(options.proxy_token, start.env);
  }
  ABSL_ASSIGN_OR_RETURN(CompiledPolicy compiled, Compiler(start.hopes)->Compile(policy, options));
  for (const std::string& folder : compiled.copy_on_write) {
    // The kernel would mount it, and the changes would be a part of what they change.
    if (!absl::StartsWith(RealPath(start.session_dir), absl::StrCat(folder, "/"))) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("path '", folder,
                     "': berth's state, where its changes would go, is in it. "
                     "Remedy: set $BERTH_STATE_DIR to a folder outside of it"));
  }
  *start.plan = compiled.plan.Encode();
  if (!start.cwd_given && !PlanShows(compiled.plan, *start.cwd)) {
    *start.cwd = StartingPlace(policy);
  }
  FixTmpdir(compiled.plan, start.env);
  if (!compiled.git_excludes.empty()) SetGitExcludes(compiled.git_excludes, start.env);
  return compiled;
}

}  // namespace berth
