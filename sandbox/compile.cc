#include "sandbox/compile.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/base/sha256.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/compile_view.h"
#include "sandbox/limits.h"
#include "sandbox/network/environment.h"
#include "sandbox/policy_check.h"
#include "sandbox/seccomp/filter.h"
#include "sandbox/view.h"

namespace berth {
namespace {

using launcher::SandboxNetwork;
using launcher::SandboxPlan;
using launcher::SandboxTier;

SandboxTier ToPlan(Tier tier) {
  switch (tier) {
    case Tier::kPooled:
      return SandboxTier::kPooled;
    case Tier::kLandlock:
      return SandboxTier::kLandlock;
    case Tier::kNamespaces:
    case Tier::kAuto:
      break;
  }
  return SandboxTier::kNamespaces;
}

absl::Status SetNetwork(const Policy& policy, const CompileOptions& options, SandboxPlan* plan) {
  switch (policy.network()) {
    case Policy::Network::kNone:
      plan->network = SandboxNetwork::kNone;
      return absl::OkStatus();
    case Policy::Network::kHost:
      plan->network = SandboxNetwork::kHost;
      return absl::OkStatus();
    case Policy::Network::kAllowList:
      break;
  }
  if (options.proxy_token.empty()) {
    return absl::FailedPreconditionError(
        "an allow-list of domains takes a proxy, and there is no token for one");
  }
  plan->network = SandboxNetwork::kProxy;
  plan->proxy_rules = policy.domains();
  plan->proxy_token = options.proxy_token;
  plan->proxy_port = network::kProxyPort;
  return absl::OkStatus();
}

absl::Status SetLimits(const Limits& limits, const CgroupReport& cgroups, CompiledPolicy* out) {
  ABSL_ASSIGN_OR_RETURN(const LimitPlan planned, PlanLimits(limits, cgroups));
  SandboxPlan& plan = out->plan;
  plan.memory_bytes = planned.group.memory_bytes;
  plan.swap_bytes = planned.group.swap_bytes;
  plan.pids = planned.group.pids;
  plan.cpu_millis = planned.group.cpu_millis;
  for (const LimitPlan::Rlimit& limit : planned.rlimits) {
    plan.rlimits.push_back({limit.resource, limit.value});
  }
  const auto add = [&plan](int resource, int64_t value) {
    if (value >= 0) plan.rlimits.push_back({resource, static_cast<uint64_t>(value)});
  };
  add(RLIMIT_FSIZE, limits.file_bytes);
  add(RLIMIT_NOFILE, limits.open_files);
  out->weaker.insert(out->weaker.end(), planned.weaker.begin(), planned.weaker.end());
  return absl::OkStatus();
}

std::vector<int> Families(const Policy& policy, Tier tier) {
  std::vector<int> families;
  for (const std::string& name : policy.socket_families()) {
    // Without a network namespace, no network is no socket. And Landlock does not keep a program
    // from the sockets of others that have a path: so there are none of these either.
    const bool inet = name == "inet" || name == "inet6";
    if (tier == Tier::kLandlock && (name == "unix" || policy.network() != Policy::Network::kHost)) {
      continue;
    }
    if (inet) families.push_back(name == "inet" ? AF_INET : AF_INET6);
    if (name == "unix") families.push_back(AF_UNIX);
    if (name == "netlink") families.push_back(AF_NETLINK);
  }
  return families;
}

}  // namespace

absl::StatusOr<std::string> PolicyCompiler::Filter(const Policy& policy, Tier tier, bool notify) {
  seccomp::FilterSpec spec;
  spec.sockets = Families(policy, tier);
  spec.ipc = spec.own_pids = tier != Tier::kLandlock;
  spec.debugging = policy.debugging();
  spec.namespaces = policy.nested_user_namespaces();
  spec.notify = notify;
  spec.notify_connect = tier != Tier::kLandlock && policy.network() != Policy::Network::kHost;
  spec.deny = policy.denied_syscalls();
  // Many policies have one filter: it is kept by what it is made from.
  const std::string key =
      absl::StrCat(absl::StrJoin(spec.sockets, ","), "|", spec.ipc, spec.debugging, spec.namespaces,
                   spec.notify, spec.notify_connect, "|", absl::StrJoin(spec.deny, ","));
  absl::MutexLock lock(mutex_);
  if (const auto found = filters_.find(key); found != filters_.end()) return found->second;
  ABSL_ASSIGN_OR_RETURN(std::string program, seccomp::CompileFilter(spec));
  constexpr size_t kMost = 64;  // some 8 KB each
  if (filters_.size() >= kMost) filters_.clear();
  return filters_[key] = std::move(program);
}

absl::StatusOr<CompiledPolicy> PolicyCompiler::Compile(const Policy& policy,
                                                       const CompileOptions& options) {
  CompiledPolicy out;
  ABSL_ASSIGN_OR_RETURN(out.tier, ChooseTier(policy, report_));
  const bool landlock = out.tier == Tier::kLandlock;
  if (policy.host_pid_namespace() && !landlock) {
    return absl::UnimplementedError(
        "the host's pid namespace: only the tier landlock has it; ask for that one");
  }
  SandboxPlan& plan = out.plan;
  plan.tier = ToPlan(out.tier);
  plan.hostname = landlock ? "" : policy.hostname();
  ABSL_RETURN_IF_ERROR(SetNetwork(policy, options, &plan));
  ABSL_RETURN_IF_ERROR(SetLimits(policy.limits(), report_.cgroups, &out));
  ABSL_ASSIGN_OR_RETURN(View view, ResolveView(policy, options.home, options.secrets));
  out.weaker.insert(out.weaker.end(), view.weaker.begin(), view.weaker.end());
  if (landlock) {
    plan.landlock = ToLandlock(view, options.tmp_dir);
    plan.landlock_fs = kLandlockFs;
    plan.landlock_scope = kLandlockScope;
    for (const std::string& gap : LandlockGaps(policy)) {
      out.weaker.push_back(absl::StrCat("tier landlock: no ", gap));
    }
    out.weaker.push_back(
        "tier landlock: names of files outside can be tried; modes and times of the user's own can "
        "be changed");
  } else {
    for (const View::Shown& shown : view.shown) {
      if (shown.access != Policy::Access::kCopyOnWrite) continue;
      out.copy_on_write.push_back(shown.source);
      if (options.changes_dir.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat("path ", Quoted(shown.target),
                         ": there is no folder for the changes of a "
                         "copy-on-write path"));
      }
    }
    const int64_t bytes = policy.limits().tmp_bytes;
    plan.mounts = ToMounts(view, bytes < 0 ? 0 : static_cast<uint64_t>(bytes), options.changes_dir);
    // The host's network namespace has the host's abstract sockets.
    if (plan.network == SandboxNetwork::kHost && report_.landlock_version >= 6) {
      plan.landlock_scope = kLandlockScope;
    }
  }
  if (!policy.seccomp_off()) {
    plan.notifies = report_.notify.state == Ability::State::kOk;
    ABSL_ASSIGN_OR_RETURN(plan.filter, Filter(policy, out.tier, plan.notifies));
    if (!plan.notifies) {
      out.weaker.push_back(absl::StrCat("refused calls are not told: ", report_.notify.reason));
    }
  }
  // Of the plan and not of the policy: the same policy may see another home, or another system.
  plan.hash = Sha256Hex(plan.Encode());
  return out;
}

bool PlanShows(const SandboxPlan& plan, absl::string_view path) {
  if (plan.tier == SandboxTier::kLandlock) {
    for (const launcher::LandlockRule& rule : plan.landlock) {
      if (IsBelow(path, rule.path)) return true;
    }
    return false;
  }
  // Of what is above it, the closest decides. "/" itself is a folder of our own.
  const launcher::SandboxMount* best = nullptr;
  for (const launcher::SandboxMount& mount : plan.mounts) {
    const bool above = IsBelow(path, mount.target);
    // On the way to something that is shown.
    if (!above && IsBelow(mount.target, path)) return true;
    if (above && (best == nullptr || mount.target.size() > best->target.size())) best = &mount;
  }
  if (best == nullptr) return path == "/";
  switch (best->kind) {
    case launcher::SandboxMount::Kind::kTmpfs:
    case launcher::SandboxMount::Kind::kMask:
      return best->target == path;  // they begin empty
    default:
      return true;
  }
}

}  // namespace berth
