#include "sandbox/launcher/enter/root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/file_systems.h"
#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/place.h"

namespace berth::launcher {
namespace {

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr size_t kMaxPlaceholders = 256;
constexpr int kDetach = 2;  // MNT_DETACH; <sys/mount.h> and <linux/mount.h> exclude each other
// Sources of masks; gone before anything runs.
constexpr char kEmptyDirectory[] = ".berth-empty", kEmptyFile[] = ".berth-empty-file";

class RootBuilder {
 public:
  RootBuilder(const SandboxPlan& plan, std::vector<Placeholder>* placeholders, Failure* failure)
      : plan_(plan), placeholders_(*placeholders), failure_(*failure) {}
  bool Build();
  bool Enter();

 private:
  bool Failed(Step step, int error) {
    failure_.step = step;
    failure_.error = error;
    return false;
  }
  uint64_t Attributes(const SandboxMount& mount) const {
    return kQuiet | (mount.read_only ? MOUNT_ATTR_RDONLY : 0) |
           (mount.no_exec ? MOUNT_ATTR_NOEXEC : 0);
  }
  UniqueFd OpenSource(const std::string& path) const;
  bool Attach(int tree, std::string_view target, bool directory);
  bool Add(const SandboxMount& mount);
  bool Bind(const SandboxMount& mount);
  bool Tmpfs(const SandboxMount& mount);
  bool Overlay(const SandboxMount& mount);
  bool Symlink(const SandboxMount& mount);
  bool Mask(const SandboxMount& mount);
  bool Carve(const SandboxMount& mount);
  bool ReadOnlyInPlace(int place);
  bool CarveMissing(int parent, const std::string& name, bool last);
  bool Finish();

  const SandboxPlan& plan_;
  std::vector<Placeholder>& placeholders_;
  Failure& failure_;
  UniqueFd root_;
  std::vector<Places> places_;         // one, once there is a root
  std::vector<UniqueFd> seal_;         // ours, to become read-only at the end
  std::vector<std::string> writable_;  // sources that the sandbox can write to
};

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder &&
         (folder.back() == '/' || path[folder.size()] == '/');
}

// The policy's own names may lead through symlinks of the host (/bin). Below something that the
// sandbox can write to, an earlier run may have made them: there none is followed.
UniqueFd RootBuilder::OpenSource(const std::string& path) const {
  uint64_t resolve = RESOLVE_NO_MAGICLINKS;
  for (const std::string& folder : writable_) {
    if (IsBelow(path, folder)) resolve |= RESOLVE_NO_SYMLINKS;
  }
  if (path.empty() || path[0] != '/') {
    errno = EINVAL;
    return UniqueFd();
  }
  return UniqueFd(OpenAt2(AT_FDCWD, path.c_str(), O_PATH, resolve));
}

bool RootBuilder::Attach(int tree, std::string_view target, bool directory) {
  const UniqueFd place = places_[0].Make(target, directory);
  if (!place.ok()) return Failed(Step::kTarget, errno);
  return MoveMount(tree, place.get()) == 0 || Failed(Step::kMount, errno);
}

bool RootBuilder::Bind(const SandboxMount& mount) {
  const UniqueFd source = OpenSource(mount.source);
  if (!source.ok()) {
    if (mount.optional && (errno == ENOENT || errno == ENOTDIR)) return true;
    return Failed(Step::kSource, errno);
  }
  const UniqueFd tree(CloneTree(source.get()));
  if (!tree.ok() || SetMountAttributes(tree.get(), Attributes(mount), true) != 0) {
    return Failed(Step::kMount, errno);
  }
  if (!mount.read_only) writable_.push_back(mount.source);
  return Attach(tree.get(), mount.target, Places::IsDirectory(source.get()));
}

bool RootBuilder::Tmpfs(const SandboxMount& mount) {
  const std::string_view target = mount.target;
  const std::string_view name = target.substr(target.rfind('/') + 1);
  const bool shared = name == "tmp" || name == "shm";
  UniqueFd fs =
      MakeTmpfs(mount.size, shared ? "1777" : "755", mount.no_exec ? MOUNT_ATTR_NOEXEC : 0);
  if (!fs.ok()) return Failed(Step::kMount, errno);
  if (!Attach(fs.get(), target, true)) return false;
  places_[0].AddOwn(fs.get());
  if (mount.read_only) seal_.push_back(std::move(fs));  // others may yet be put into it
  return true;
}

bool RootBuilder::Overlay(const SandboxMount& mount) {
  const UniqueFd lower = OpenSource(mount.source);
  const UniqueFd upper = OpenSource(mount.upper);
  const UniqueFd work = OpenSource(mount.work);
  if (!lower.ok() || !upper.ok() || !work.ok()) return Failed(Step::kSource, errno);
  const UniqueFd fs = MakeOverlay(lower.get(), upper.get(), work.get(), Attributes(mount));
  if (!fs.ok()) return Failed(Step::kMount, errno);
  return Attach(fs.get(), mount.target, true);
}

bool RootBuilder::Symlink(const SandboxMount& mount) {
  std::string name;
  const UniqueFd parent = places_[0].MakeParent(mount.target, &name);
  if (!parent.ok()) return Failed(Step::kTarget, errno);
  return symlinkat(mount.source.c_str(), parent.get(), name.c_str()) == 0 ||
         Failed(Step::kMount, errno);
}

bool RootBuilder::Mask(const SandboxMount& mount) {
  UniqueFd parent;
  std::string missing;
  bool last = false;
  const UniqueFd place = places_[0].Find(mount.target, &parent, &missing, &last);
  if (!place.ok()) return errno == ENOENT || errno == ENOTDIR || Failed(Step::kTarget, errno);
  const char* name = Places::IsDirectory(place.get()) ? kEmptyDirectory : kEmptyFile;
  const UniqueFd source(OpenAt2(root_.get(), name, O_PATH, RESOLVE_NO_SYMLINKS));
  if (!source.ok()) return Failed(Step::kSource, errno);
  const UniqueFd tree(CloneTree(source.get()));
  if (!tree.ok() ||
      SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, true) != 0 ||
      MoveMount(tree.get(), place.get()) != 0) {
    return Failed(Step::kMount, errno);
  }
  return true;
}

bool RootBuilder::ReadOnlyInPlace(int place) {
  const UniqueFd tree(CloneTree(place));
  return (tree.ok() && SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY, true) == 0 &&
          MoveMount(tree.get(), place) == 0) ||
         Failed(Step::kMount, errno);
}

bool RootBuilder::CarveMissing(int parent, const std::string& name, bool last) {
  if (placeholders_.size() >= kMaxPlaceholders) return Failed(Step::kTarget, ENOSPC);
  Placeholder placeholder = MakePlaceholder(parent, name, !last);
  if (!placeholder.lock.ok()) {
    // Nobody can make it there, nor can we.
    return errno == EROFS || Failed(Step::kTarget, errno);
  }
  placeholders_.push_back(std::move(placeholder));
  return true;
}

bool RootBuilder::Carve(const SandboxMount& mount) {
  // Twice at most: what was not there is, then.
  for (int pass = 0; pass < 2; ++pass) {
    UniqueFd parent;
    std::string missing;
    bool last = false;
    const UniqueFd place = places_[0].Find(mount.target, &parent, &missing, &last);
    if (place.ok()) {
      // One that another sandbox made, or that was left by one: it is to stay as long as we do.
      if (pass == 0 && IsPlaceholder(place.get())) {
        std::string name;
        UniqueFd folder, none;
        const std::string_view target = mount.target;
        const std::string_view up = target.substr(0, target.rfind('/'));
        folder = up.empty() ? UniqueFd(fcntl(root_.get(), F_DUPFD_CLOEXEC, 3))
                            : places_[0].Find(up, &none, &name, &last);
        if (!folder.ok()) return Failed(Step::kTarget, errno);
        if (!CarveMissing(folder.get(), std::string(target.substr(target.rfind('/') + 1)),
                          !Places::IsDirectory(place.get()))) {
          return false;
        }
        continue;
      }
      return ReadOnlyInPlace(place.get());
    }
    // A file stands where a directory would have to be (.git of a worktree): if it stays, so it is.
    if (errno == ENOTDIR) return ReadOnlyInPlace(parent.get());
    if (errno != ENOENT) return Failed(Step::kTarget, errno);
    const size_t before = placeholders_.size();
    if (!CarveMissing(parent.get(), missing, last)) return false;
    if (placeholders_.size() == before) return true;  // a read-only file system
    if (last) continue;
    // More of the path is missing: the directory that stands for it is what is carved out.
    const UniqueFd folder(
        OpenAt2(parent.get(), missing.c_str(), O_PATH, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
    if (!folder.ok()) return Failed(Step::kTarget, errno);
    return ReadOnlyInPlace(folder.get());
  }
  return Failed(Step::kTarget, EAGAIN);
}

bool RootBuilder::Add(const SandboxMount& mount) {
  switch (mount.kind) {
    case SandboxMount::Kind::kBind:
      return Bind(mount);
    case SandboxMount::Kind::kTmpfs:
      return Tmpfs(mount);
    case SandboxMount::Kind::kOverlay:
      return Overlay(mount);
    case SandboxMount::Kind::kSymlink:
      return Symlink(mount);
    case SandboxMount::Kind::kMask:
      return Mask(mount);
    case SandboxMount::Kind::kCarve:
      return Carve(mount);
    case SandboxMount::Kind::kProc:
    case SandboxMount::Kind::kDev: {
      const UniqueFd place = places_[0].Make(mount.target, true);
      if (!place.ok()) return Failed(Step::kTarget, errno);
      const int error = mount.kind == SandboxMount::Kind::kProc ? MountProc(place.get())
                                                                : MountDev(place.get(), mount.size);
      return error == 0 || Failed(Step::kMount, error);
    }
  }
  return Failed(Step::kPlan, EINVAL);
}

bool RootBuilder::Build() {
  // What is mounted on "/" does not hide the old root from a process whose root that is.
  root_ = MakeTmpfs(4 << 20, "755", 0);
  const UniqueFd old(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root_.ok() || !old.ok() || MoveMount(root_.get(), old.get()) != 0) {
    return Failed(Step::kRoot, errno);
  }
  places_.emplace_back(root_.get());
  if (mkdirat(root_.get(), kEmptyDirectory, 0555) != 0) return Failed(Step::kRoot, errno);
  const UniqueFd file(openat(root_.get(), kEmptyFile, O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!file.ok()) return Failed(Step::kRoot, errno);
  for (uint32_t i = 0; i < plan_.mounts.size(); ++i) {
    failure_.item = i;
    if (!Add(plan_.mounts[i])) return false;
  }
  failure_.item = Failure::kNoItem;
  return Finish();
}

bool RootBuilder::Finish() {
  if (unlinkat(root_.get(), kEmptyDirectory, AT_REMOVEDIR) != 0 ||
      unlinkat(root_.get(), kEmptyFile, 0) != 0) {
    return Failed(Step::kRoot, errno);
  }
  for (const UniqueFd& fs : seal_) {
    if (SetMountAttributes(fs.get(), MOUNT_ATTR_RDONLY, false) != 0)
      return Failed(Step::kRoot, errno);
  }
  return SetMountAttributes(root_.get(), MOUNT_ATTR_RDONLY, false) == 0 ||
         Failed(Step::kRoot, errno);
}

bool RootBuilder::Enter() {
  // The old root ends up on top of the new one, and is taken off.
  if (fchdir(root_.get()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
      syscall(SYS_umount2, ".", kDetach) != 0 || chdir("/") != 0) {
    return Failed(Step::kPivot, errno);
  }
  struct stat here, root;
  if (stat("/", &here) != 0 || fstat(root_.get(), &root) != 0) return Failed(Step::kPivot, errno);
  if (here.st_dev != root.st_dev || here.st_ino != root.st_ino) {
    return Failed(Step::kPivot, EXDEV);
  }
  return true;
}

}  // namespace

bool EnterNewRoot(const SandboxPlan& plan, std::vector<Placeholder>* placeholders,
                  Failure* failure) {
  RootBuilder builder(plan, placeholders, failure);
  return builder.Build() && builder.Enter();
}

}  // namespace berth::launcher
