#include "sandbox/launcher/enter/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/enter/mount_api.h"

namespace berth::launcher {
namespace {

// As of Linux 6.12; older headers know less, older kernels take a shorter one.
struct RulesetAttributes {
  uint64_t fs = 0, net = 0, scope = 0;
};
struct [[gnu::packed]] PathBeneath {
  uint64_t access = 0;
  int32_t fd = -1;
};
constexpr int kPathBeneath = 1;
constexpr unsigned kVersionFlag = 1;

// Of versions 1, 2 (refer), 3 (truncate), 4 (TCP), 5 (ioctl on devices), 6 (scopes).
uint64_t KnownFs(int abi) {
  if (abi >= 5) return (1u << 16) - 1;
  if (abi >= 3) return (1u << 15) - 1;
  return abi == 2 ? (1u << 14) - 1 : (1u << 13) - 1;
}

// What can be asked of something that is not a directory: execute, write, read, truncate, ioctl.
constexpr uint64_t kFileRights = (1u << 0) | (1u << 1) | (1u << 2) | (1u << 14) | (1u << 15);

bool Failed(Failure* failure, uint32_t item, int error) {
  *failure = {Step::kLandlock, error, item};
  return false;
}

// 0 or an errno.
int AddRule(int ruleset, const LandlockRule& rule, uint64_t handled) {
  const int fd = OpenAt2(AT_FDCWD, rule.path.c_str(), O_PATH, RESOLVE_NO_MAGICLINKS);
  if (fd < 0) return rule.optional && (errno == ENOENT || errno == ENOTDIR) ? 0 : errno;
  struct stat st;
  PathBeneath beneath;
  beneath.fd = fd;
  beneath.access = rule.access & handled;
  int error = fstat(fd, &st) != 0 ? errno : 0;
  if (error == 0 && !S_ISDIR(st.st_mode)) beneath.access &= kFileRights;
  // A rule that gives nothing is none (the kernel refuses it).
  if (error == 0 && beneath.access != 0 &&
      syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &beneath, 0) != 0) {
    error = errno;
  }
  close(fd);
  return error;
}

}  // namespace

int LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

bool UsesLandlock(const SandboxPlan& plan) {
  return plan.landlock_fs != 0 || plan.landlock_net != 0 || plan.landlock_scope != 0;
}

int MakeRuleset(const SandboxPlan& plan, Failure* failure) {
  const int abi = LandlockAbi();
  if (abi == 0) {
    Failed(failure, Failure::kNoItem, EOPNOTSUPP);
    return -1;
  }
  RulesetAttributes attributes;
  attributes.fs = plan.landlock_fs & KnownFs(abi);
  size_t size = sizeof(attributes.fs);
  if (abi >= 4) {
    attributes.net = plan.landlock_net & 3;
    size += sizeof(attributes.net);
  }
  if (abi >= 6) {
    attributes.scope = plan.landlock_scope & 3;
    size += sizeof(attributes.scope);
  }
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) Failed(failure, Failure::kNoItem, errno);
  for (uint32_t i = 0; ruleset >= 0 && i < plan.landlock.size(); ++i) {
    if (const int error = AddRule(ruleset, plan.landlock[i], attributes.fs)) {
      close(ruleset);
      Failed(failure, i, error);
      return -1;
    }
  }
  return ruleset;
}

bool EnforceLandlock(const SandboxPlan& plan, int ruleset, Failure* failure) {
  if (!UsesLandlock(plan)) {
    if (plan.tier != SandboxTier::kLandlock) return true;
    return Failed(failure, Failure::kNoItem, EINVAL);  // the tier would hold nothing
  }
  const int made = ruleset < 0 ? MakeRuleset(plan, failure) : -1;
  if (ruleset < 0 && made < 0) return false;
  const bool enforced = syscall(SYS_landlock_restrict_self, ruleset < 0 ? made : ruleset, 0) == 0;
  const int error = errno;
  if (made >= 0) close(made);
  return enforced || Failed(failure, Failure::kNoItem, error);
}

}  // namespace berth::launcher
