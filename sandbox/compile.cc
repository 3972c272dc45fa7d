#include "sandbox/compile.h"

#include <limits.h>
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
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
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

seccomp::FilterSpec SpecOf(const Policy& policy, Tier tier, bool notify) {
  seccomp::FilterSpec spec;
  spec.sockets = Families(policy, tier);
  spec.ipc = spec.own_pids = tier != Tier::kLandlock;
  spec.debugging = policy.debugging();
  spec.namespaces = policy.nested_user_namespaces();
  spec.notify = notify;
  spec.notify_connect = tier != Tier::kLandlock && policy.network() != Policy::Network::kHost;
  spec.notify_files = policy.report_files();
  spec.deny = policy.denied_syscalls();
  return spec;
}

}  // namespace

absl::StatusOr<std::string> PolicyCompiler::Filter(const seccomp::FilterSpec& spec) {
  // Many policies have one filter: it is kept by what it is made from.
  const std::string key = absl::StrCat(
      absl::StrJoin(spec.sockets, ","), "|", spec.ipc, spec.debugging, spec.namespaces, spec.notify,
      spec.notify_connect, spec.notify_files, "|", absl::StrJoin(spec.deny, ","));
  absl::MutexLock lock(mutex_);
  if (const auto found = filters_.find(key); found != filters_.end()) return found->second;
  ABSL_ASSIGN_OR_RETURN(std::string program, seccomp::CompileFilter(spec));
  constexpr size_t kMost = 64;  // some 8 KB each
  if (filters_.size() >= kMost) filters_.clear();
  return filters_[key] = std::move(program);
}

absl::Status PolicyCompiler::SetFilter(const Policy& policy, CompiledPolicy* out) {
  SandboxPlan& plan = out->plan;
  std::string silent;  // why nothing of it is told
  if (policy.seccomp_off()) {
    silent = "there is no system call filter";
  } else {
    plan.notifies = report_.notify.state == Ability::State::kOk;
    const seccomp::FilterSpec spec = SpecOf(policy, out->tier, plan.notifies);
    plan.ready_child = spec.deny.empty();
    ABSL_ASSIGN_OR_RETURN(plan.filter, Filter(spec));
    const std::vector<int> told = seccomp::ToldFileCalls(spec);
    plan.told_calls.assign(told.begin(), told.end());
    if (!plan.notifies) {
      silent = report_.notify.reason;
      out->weaker.push_back(absl::StrCat("refused calls are not told: ", silent));
    }
  }
  if (policy.report_files() && !silent.empty()) {
    out->weaker.push_back(absl::StrCat("files are not told: ", silent));
  }
  return absl::OkStatus();
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
    // One's own list, which it would take the place of, is in a home that is not seen.
    const std::string excludes = policy.private_home() ? ToGitExcludes(view) : "";
    if (!excludes.empty()) {
      out.git_excludes = "/.berth/gitignore";
      plan.mounts.push_back({.kind = launcher::SandboxMount::Kind::kText,
                             .read_only = true,
                             .source = excludes,
                             .target = out.git_excludes});
    }
    // The host's network namespace has the host's abstract sockets.
    if (plan.network == SandboxNetwork::kHost && report_.landlock_version >= 6) {
      plan.landlock_scope = kLandlockScope;
    }
  }
  ABSL_RETURN_IF_ERROR(SetFilter(policy, &out));
  if (!plan.told_calls.empty()) {
    if (landlock) plan.links = ToLinks(view);
    if (!landlock) plan.missing = view.missing;
    plan.absent = view.absent;
  }
  return out;
}

void SetGitExcludes(absl::string_view file, std::vector<std::string>* env) {
  constexpr absl::string_view kCount = "GIT_CONFIG_COUNT=";
  int count = 0;
  for (const std::string& entry : *env) {
    // What is no number git complains of itself.
    if (absl::StartsWith(entry, kCount) &&
        (!absl::SimpleAtoi(entry.substr(kCount.size()), &count) || count < 0 || count == INT_MAX)) {
      return;
    }
  }
  // Of what comes behind those that count, git reads nothing; it would, once they were one more.
  const std::string key = absl::StrCat("GIT_CONFIG_KEY_", count, "=");
  const std::string value = absl::StrCat("GIT_CONFIG_VALUE_", count, "=");
  std::erase_if(*env, [&](const std::string& entry) {
    return absl::StartsWith(entry, kCount) || absl::StartsWith(entry, key) ||
           absl::StartsWith(entry, value);
  });
  env->push_back(absl::StrCat(kCount, count + 1));
  env->push_back(absl::StrCat(key, "core.excludesFile"));
  env->push_back(absl::StrCat(value, file));
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
