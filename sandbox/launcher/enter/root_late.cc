// The half of Root that stands in the host's folders: see root.h.

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/root.h"
#include "sandbox/launcher/enter/root_names.h"

namespace berth::launcher {
namespace {

constexpr size_t kMaxPlaceholders = 256;

}  // namespace

bool Root::Cover(std::string_view target, int place, const char* with) {
  const UniqueFd source(OpenAt2(root_.get(), with, O_PATH, RESOLVE_NO_SYMLINKS));
  if (!source.ok()) return Failed(Step::kSource, errno);
  const UniqueFd tree(CloneTree(source.get()));
  if (!tree.ok() ||
      SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, false) != 0 ||
      MoveMount(tree.get(), place) != 0) {
    return Failed(Step::kMount, errno);
  }
  places_->Covered(target);
  return true;
}

bool Root::Mask(const SandboxMount& mount) {
  int parent = -1;
  std::string missing;
  bool last = false;
  const UniqueFd place = places_->Find(mount.target, &parent, &missing, &last);
  if (!place.ok()) return errno == ENOENT || errno == ENOTDIR || Failed(Step::kTarget, errno);
  return Cover(mount.target, place.get(),
               Places::IsDirectory(place.get()) ? kEmptyDirectory : kEmptyFile);
}

bool Root::ReadOnlyInPlace(std::string_view target, int place) {
  const UniqueFd tree(CloneTree(place));
  if (!tree.ok() || SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY, true) != 0 ||
      MoveMount(tree.get(), place) != 0) {
    return Failed(Step::kMount, errno);
  }
  places_->Covered(target);
  return true;
}

bool Root::HasRoom() const {
  size_t count = 0;
  for (const Placeholder& each : placeholders_) count += each.names.size();
  return count < kMaxPlaceholders;
}

// The placeholder itself is mounted over it, so that whoever removes it finds it by its name also
// where a mount namespace of the sandbox still lives.
bool Root::CarveMissing(const SandboxMount& mount, int parent, const std::string& name, bool last) {
  if (!HasRoom()) return Failed(Step::kTarget, ENOSPC);
  if (const int error = AddPlaceholder(parent, name, !last, &placeholders_)) {
    errno = error;
    // Nobody can make it there, nor can we.
    return error == EROFS || Failed(Step::kTarget, error);
  }
  const UniqueFd place(OpenAt2(parent, name.c_str(), O_PATH | O_NOFOLLOW,
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  struct stat st;
  if (!place.ok() || fstat(place.get(), &st) != 0) return Failed(Step::kTarget, errno);
  // Changed since: whoever can do that could not be kept from making it.
  if (!IsPlaceholder(st)) return Failed(Step::kTarget, EAGAIN);
  return HoldPlaceholder(mount.target, place.get(), st);
}

bool Root::HoldPlaceholder(std::string_view target, int place, const struct stat& file) {
  const SourceIdentity identity{file.st_dev, file.st_ino};
  const bool copies = held_.ok() && identity == held_file_;
  UniqueFd tree(CloneTree(copies ? held_.get() : place));
  if (!tree.ok() ||
      (!copies && SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY, true) != 0) ||
      MoveMount(tree.get(), place) != 0) {
    return Failed(Step::kMount, errno);
  }
  if (!copies) held_ = std::move(tree);
  held_file_ = identity;
  places_->Covered(target);
  return true;
}

bool Root::Carve(const SandboxMount& mount) {
  // Again if what was looked at was made, or replaced, meanwhile: other sandboxes come and go.
  for (int tries = 0; tries < 100; ++tries) {
    if (CarveNow(mount)) return true;
    if (failure_->error != EEXIST) return false;
    *failure_ = {.item = failure_->item};
  }
  return Failed(Step::kTarget, EAGAIN);
}

bool Root::CarveNow(const SandboxMount& mount) {
  int parent = -1;
  std::string missing;
  bool last = false;
  // Most are in one folder and not there: what can be linked need not be looked for. It is covered
  // by name: whoever can put something else there could not be kept from making it.
  if (held_.ok() && HasRoom()) parent = places_->LastParent(mount.target, &missing);
  if (parent >= 0 && AddNextPlaceholder(parent, missing, held_file_.inode, &placeholders_)) {
    const UniqueFd tree(CloneTree(held_.get()));
    if (!tree.ok() || MoveMountTo(tree.get(), parent, missing.c_str()) != 0) {
      return Failed(Step::kMount, errno);
    }
    places_->Covered(mount.target);
    return true;
  }
  const UniqueFd place = places_->Find(mount.target, &parent, &missing, &last);
  if (!place.ok()) {
    // A file stands where a directory would have to be (.git of a worktree): if it stays, so it is.
    if (errno == ENOTDIR) return ReadOnlyInPlace(mount.target, parent);
    if (errno != ENOENT) return Failed(Step::kTarget, errno);
    // Another sandbox's folder stands for more of the path: that is held, and nothing is made in it
    // that its maker would not know of.
    if (IsPlaceholder(parent)) return CarveAbove(mount);
    // If more of the path is missing, the directory that stands for it is what is carved out.
    return CarveMissing(mount, parent, missing, last);
  }
  if (!IsPlaceholder(place.get())) return ReadOnlyInPlace(mount.target, place.get());
  // One that another sandbox made, or that was left by one: it is to stay as long as we do.
  std::string name;
  const UniqueFd folder = places_->FindParent(mount.target, &name);
  if (!folder.ok()) return Failed(Step::kTarget, errno);
  return CarveMissing(mount, folder.get(), name, !Places::IsDirectory(place.get()));
}

bool Root::CarveAbove(const SandboxMount& mount) {
  SandboxMount above = mount;
  while (true) {
    above.target.resize(above.target.rfind('/'));
    if (above.target.empty()) return Failed(Step::kTarget, EAGAIN);
    int parent = -1;
    std::string missing;
    bool last = false;
    const UniqueFd place = places_->Find(above.target, &parent, &missing, &last);
    if (!place.ok() && errno == ENOENT && IsPlaceholder(parent)) continue;
    if (!place.ok() && errno != ENOENT) return Failed(Step::kTarget, errno);
    // Not the folder any more that was looked at.
    if (!place.ok() || !IsPlaceholder(place.get())) return Failed(Step::kTarget, EEXIST);
    return CarveNow(above);
  }
}

bool Root::AddLate(const SandboxMount& mount) {
  switch (mount.kind) {
    case SandboxMount::Kind::kCarve:
      return Carve(mount);
    case SandboxMount::Kind::kMask:
      return Mask(mount);
    case SandboxMount::Kind::kSymlink:
      return Symlink(mount);
    default:
      return true;  // among the trees, or an optional one that was not there
  }
}

bool Root::Seal() {
  if (unlinkat(root_.get(), kEmptyDirectory, AT_REMOVEDIR) != 0 ||
      unlinkat(root_.get(), kEmptyFile, 0) != 0) {
    return Failed(Step::kRoot, errno);
  }
  for (const UniqueFd& fs : seal_) {
    if (SetMountAttributes(fs.get(), MOUNT_ATTR_RDONLY, false) != 0) {
      return Failed(Step::kRoot, errno);
    }
  }
  return SetMountAttributes(root_.get(), MOUNT_ATTR_RDONLY, false) == 0 ||
         Failed(Step::kRoot, errno);
}

bool Root::Complete(Failure* failure) {
  failure_ = failure;
  size_t next = 0;
  for (uint32_t i = 0; i < plan_.mounts.size(); ++i) {
    if (!late_[i]) continue;
    failure_->item = i;
    if (next < trees_.size() && trees_[next].mount == i) {
      const Late& late = trees_[next++];
      if (!Attach(late.tree.get(), plan_.mounts[i].target, late.directory)) return false;
    } else if (!AddLate(plan_.mounts[i])) {
      return false;
    }
  }
  trees_.clear();
  held_.reset();
  failure_->item = Failure::kNoItem;
  return Seal();
}

}  // namespace berth::launcher
