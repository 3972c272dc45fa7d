#include "sandbox/launcher/enter/root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/enter/file_systems.h"
#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/root_names.h"
#include "sandbox/launcher/placeholder_link.h"

namespace berth::launcher {
namespace {

using Kind = SandboxMount::Kind;

// MNT_DETACH and UMOUNT_NOFOLLOW: <sys/mount.h> and <linux/mount.h> exclude each other.
constexpr int kDetach = 2, kNoFollow = 8;

uint64_t Attributes(const SandboxMount& mount) {
  return kQuiet | (mount.read_only ? MOUNT_ATTR_RDONLY : 0) |
         (mount.no_exec ? MOUNT_ATTR_NOEXEC : 0);
}

}  // namespace

bool Root::Failed(Step step, int error) {
  failure_->step = step;
  failure_->error = error;
  return false;
}

// What would stand in a folder of the host's, and what comes after that at the same place.
bool Root::IsLate(uint32_t index) const {
  const SandboxMount& mount = plan_->mounts[index];
  if (mount.kind == Kind::kCarve || mount.kind == Kind::kMask) return true;
  for (uint32_t i = 0; i < index; ++i) {
    const SandboxMount& other = plan_->mounts[i];
    const bool hosts = other.kind == Kind::kBind || other.kind == Kind::kOverlay;
    if ((late_[i] || hosts) && Nested(other.target, mount.target)) return true;
  }
  return false;
}

bool Root::Attach(int tree, std::string_view target, bool directory) {
  std::string name;
  if (const int parent = places_->MakeNew(target, directory, &name); parent >= 0) {
    if (MoveMountTo(tree, parent, name.c_str()) != 0) return Failed(Step::kMount, errno);
    places_->Covered(target);
    return true;
  }
  const UniqueFd place = places_->Make(target, directory);
  if (!place.ok()) return Failed(Step::kTarget, errno);
  if (MoveMount(tree, place.get()) != 0) return Failed(Step::kMount, errno);
  places_->Covered(target);
  return true;
}

bool Root::AddTree(uint32_t index, UniqueFd tree, bool directory) {
  if (!late_[index]) return Attach(tree.get(), plan_->mounts[index].target, directory);
  trees_.push_back({index, std::move(tree), directory});
  return true;
}

bool Root::Bind(uint32_t index) {
  const SandboxMount& mount = plan_->mounts[index];
  const UniqueFd source = OpenSource(*plan_, index, mount.source);
  if (!source.ok()) {
    if (mount.optional && (errno == ENOENT || errno == ENOTDIR)) return true;
    return Failed(Step::kSource, errno);
  }
  UniqueFd tree(CloneTree(source.get()));
  if (!tree.ok() || SetMountAttributes(tree.get(), Attributes(mount), true) != 0) {
    return Failed(Step::kMount, errno);
  }
  struct stat st;
  if (fstat(source.get(), &st) != 0) return Failed(Step::kSource, errno);
  sources_[index] = {st.st_dev, st.st_ino};
  return AddTree(index, std::move(tree), S_ISDIR(st.st_mode));
}

bool Root::Tmpfs(uint32_t index) {
  const SandboxMount& mount = plan_->mounts[index];
  const std::string_view target = mount.target;
  const std::string_view name = target.substr(target.rfind('/') + 1);
  const bool shared = name == "tmp" || name == "shm";
  UniqueFd fs =
      MakeTmpfs(mount.size, shared ? "1777" : "755", mount.no_exec ? MOUNT_ATTR_NOEXEC : 0);
  if (!fs.ok()) return Failed(Step::kMount, errno);
  places_->AddOwn(fs.get());
  if (mount.read_only) {
    seal_.emplace_back(fcntl(fs.get(), F_DUPFD_CLOEXEC, 3));  // others may yet be put into it
  }
  return AddTree(index, std::move(fs), true);
}

bool Root::Overlay(uint32_t index) {
  const SandboxMount& mount = plan_->mounts[index];
  const UniqueFd lower = OpenSource(*plan_, index, mount.source);
  const UniqueFd upper = OpenSource(*plan_, index, mount.upper);
  const UniqueFd work = OpenSource(*plan_, index, mount.work);
  if (!lower.ok() || !upper.ok() || !work.ok()) return Failed(Step::kSource, errno);
  UniqueFd fs = MakeOverlay(lower.get(), upper.get(), work.get(), Attributes(mount));
  if (!fs.ok()) return Failed(Step::kOverlay, errno);
  return AddTree(index, std::move(fs), true);
}

bool Root::Symlink(const SandboxMount& mount) {
  std::string name;
  const UniqueFd parent = places_->MakeParent(mount.target, &name);
  if (!parent.ok()) return Failed(Step::kTarget, errno);
  return symlinkat(mount.source.c_str(), parent.get(), name.c_str()) == 0 ||
         Failed(Step::kMount, errno);
}

bool Root::Text(const SandboxMount& mount) {
  std::string name;
  const UniqueFd parent = places_->MakeParent(mount.target, &name);
  if (!parent.ok()) return Failed(Step::kTarget, errno);
  const UniqueFd file(openat(parent.get(), name.c_str(),
                             O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
  const ssize_t size = static_cast<ssize_t>(mount.source.size());
  return (file.ok() && write(file.get(), mount.source.data(), mount.source.size()) == size) ||
         Failed(Step::kMount, errno);
}

// They are there already.
bool Root::FinishOwn(const SandboxMount& mount) {
  const bool proc = mount.kind == Kind::kProc;
  const bool again = proc ? has_proc_ : !dev_.ok();
  if (again || mount.target != (proc ? "/proc" : "/dev")) return Failed(Step::kPlan, EINVAL);
  if (proc) return has_proc_ = true;
  const int error = FinishDev(dev_.get(), mount.size);
  dev_.reset();
  return error == 0 || Failed(Step::kDev, error);
}

bool Root::Add(uint32_t index) {
  const SandboxMount& mount = plan_->mounts[index];
  const bool late = late_[index];
  switch (mount.kind) {
    case Kind::kBind:
      return Bind(index);
    case Kind::kTmpfs:
      return Tmpfs(index);
    case Kind::kOverlay:
      return Overlay(index);
    case Kind::kSymlink:
      return late || Symlink(mount);
    case Kind::kText:
      return late ? Failed(Step::kPlan, EINVAL) : Text(mount);
    case Kind::kMask:
    case Kind::kCarve:
      return true;
    case Kind::kProc:
    case Kind::kDev:
      return late ? Failed(Step::kPlan, EINVAL) : FinishOwn(mount);
  }
  return Failed(Step::kPlan, EINVAL);
}

bool Root::MakeRoot() {
  root_ = MakeTmpfs(4 << 20, "755", 0);
  if (!root_.ok()) return Failed(Step::kRoot, errno);
  places_.emplace(root_.get());
  if (mkdirat(root_.get(), kEmptyDirectory, 0555) != 0 ||
      mkdirat(root_.get(), kOldRoot, 0500) != 0) {
    return Failed(Step::kRoot, errno);
  }
  const UniqueFd file(openat(root_.get(), kEmptyFile, O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  return (file.ok() && symlinkat(kPlaceholderInside, root_.get(), kNowhere) == 0) ||
         Failed(Step::kRoot, errno);
}

// At the beginning, when there may be time: pivot_root looks at every process there is for one
// whose root it has to change. What is still to be found by the host's names is found from there,
// by chroot.
bool Root::Pivot() {
  const UniqueFd old(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!old.ok() || MoveMount(root_.get(), old.get()) != 0 || fchdir(root_.get()) != 0 ||
      syscall(SYS_pivot_root, ".", kOldRoot) != 0 || fchdir(old.get()) != 0 || chroot(".") != 0) {
    return Failed(Step::kPivot, errno);
  }
  return true;
}

bool Root::MakeOwn() {
  const UniqueFd proc = places_->Make("/proc", true), dev = places_->Make("/dev", true);
  if (!proc.ok() || !dev.ok()) return Failed(Step::kTarget, errno);
  if (const int error = MountProc(proc.get())) return Failed(Step::kProc, error);
  const int error = MountDev(dev.get(), &dev_);
  return error == 0 || Failed(Step::kDev, error);
}

bool Root::Begin(Failure* failure) {
  failure_ = failure;
  failure_->item = Failure::kNoItem;
  return MakeRoot() && Pivot() && MakeOwn();
}

bool Root::Enter() {
  if (fchdir(root_.get()) != 0 || chroot(".") != 0 ||
      syscall(SYS_umount2, kOldRoot, kDetach | kNoFollow) != 0 ||
      unlinkat(root_.get(), kOldRoot, AT_REMOVEDIR) != 0 || chdir("/") != 0) {
    return Failed(Step::kPivot, errno);
  }
  struct stat here, root;
  if (stat("/", &here) != 0 || fstat(root_.get(), &root) != 0) return Failed(Step::kPivot, errno);
  if (here.st_dev != root.st_dev || here.st_ino != root.st_ino) {
    return Failed(Step::kPivot, EXDEV);
  }
  return true;
}

bool Root::Prepare(const SandboxPlan& plan, Failure* failure) {
  plan_ = &plan;
  sources_.resize(plan.mounts.size());
  failure_ = failure;
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) {
    failure_->item = i;
    late_.push_back(IsLate(i));
    if (!Add(i)) return false;
  }
  failure_->item = Failure::kNoItem;
  if (!has_proc_ || dev_.ok()) return Failed(Step::kPlan, EINVAL);
  return Enter();
}

}  // namespace berth::launcher
