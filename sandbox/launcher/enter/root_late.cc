// The half of Root that stands in the host's folders: see root.h.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/launcher/enter/mount_api.h"
#include "sandbox/launcher/enter/placeholder.h"
#include "sandbox/launcher/enter/root.h"
#include "sandbox/launcher/enter/root_names.h"

namespace berth::launcher {
namespace {

constexpr size_t kMaxPlaceholders = 256, kMaxStock = 64;

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

Root::Kept* Root::KeepFolder(int folder) {
  struct stat st;
  if (fstat(folder, &st) != 0) return nullptr;
  for (Kept& kept : kept_) {
    if (kept.device == st.st_dev && kept.inode == st.st_ino) return &kept;
  }
  UniqueFd fd = KeepPlaceholders(folder);
  if (!fd.ok()) return nullptr;
  if (const int error = (*keep_)(fd.get())) {
    errno = error;
    return nullptr;
  }
  kept_.push_back({std::move(fd), st.st_dev, st.st_ino});
  return &kept_.back();
}

// A symlink that leads nowhere, read-only, attached nowhere. Not ok(): errno.
UniqueFd Root::Nowhere() {
  UniqueFd tree;
  if (!stock_.empty()) {
    tree = std::move(stock_.back());
    stock_.pop_back();
  } else if (nowhere_.ok()) {
    tree = UniqueFd(CloneTree(nowhere_.get()));
  } else {
    tree = UniqueFd(CloneTreeAt(root_.get(), kNowhere));
    if (tree.ok() && SetMountAttributes(tree.get(), kQuiet | MOUNT_ATTR_RDONLY, false) != 0) {
      tree.reset();
    }
  }
  return tree;
}

bool Root::Stock(Failure* failure) {
  failure_ = failure;
  std::vector<UniqueFd> stock;
  for (const SandboxMount& mount : plan_->mounts) {
    if (mount.kind != SandboxMount::Kind::kCarve || stock.size() == kMaxStock) continue;
    stock.push_back(Nowhere());
    if (!stock.back().ok()) return Failed(Step::kMount, errno);
  }
  stock_ = std::move(stock);
  return true;
}

bool Root::CarveMissing(const SandboxMount& mount, int parent, const std::string& name) {
  if (placeholders_ == kMaxPlaceholders) return Failed(Step::kTarget, ENOSPC);
  Kept* const kept = KeepFolder(parent);
  if (kept == nullptr) return Failed(Step::kTarget, errno);
  std::vector<std::string>& names = kept->names;
  // It stands for another path, too.
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const std::string like = names.empty() ? "" : names.front();
  if (const int error = MakePlaceholder(kept->folder.get(), name, like)) {
    // Nobody can make it there, nor can we.
    return error == EROFS || Failed(Step::kTarget, error);
  }
  ++placeholders_;
  names.push_back(name);
  places_->Covered(mount.target);
  // The first is covered last: the others are links to it, and there is none to what is covered.
  return names.size() == 1 || CoverPlaceholder(kept->folder.get(), name);
}

// By name: whoever can put something else there could not be kept from making it.
bool Root::CoverPlaceholder(int folder, const std::string& name) {
  UniqueFd tree = Nowhere();
  if (!tree.ok() || MoveMountTo(tree.get(), folder, name.c_str()) != 0) {
    return Failed(Step::kMount, errno);
  }
  if (!nowhere_.ok()) nowhere_ = std::move(tree);
  return true;
}

bool Root::Carve(const SandboxMount& mount) {
  // Again if what was looked at was made, or replaced, meanwhile.
  for (int tries = 0; tries < 100; ++tries) {
    if (CarveNow(mount)) return true;
    if (failure_->error != EEXIST) return false;
    *failure_ = {.item = failure_->item};
  }
  return Failed(Step::kTarget, EAGAIN);
}

bool Root::CarveLink(const SandboxMount& mount) {
  std::string name;
  const UniqueFd folder = places_->FindParent(mount.target, &name);
  const UniqueFd link(folder.ok() ? OpenAt2(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW,
                                            RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
                                  : -1);
  if (!link.ok()) return Failed(Step::kTarget, errno);
  char text[PATH_MAX];
  const ssize_t n = readlinkat(link.get(), "", text, sizeof(text));
  // Replaced since the plan was made: what it leads to now is held by nobody.
  if (n < 0 || std::string_view(text, static_cast<size_t>(n)) != mount.source) {
    return Failed(Step::kTarget, EAGAIN);
  }
  return ReadOnlyInPlace(mount.target, link.get());
}

bool Root::CarveNow(const SandboxMount& mount) {
  if (!mount.source.empty()) return CarveLink(mount);
  int parent = -1;
  std::string missing;
  bool last = false;
  // Most are in one folder and not there: what can be linked need not be looked for.
  if (!kept_.empty()) parent = places_->LastParent(mount.target, &missing);
  if (parent >= 0) {
    if (CarveMissing(mount, parent, missing)) return true;
    if (failure_->error != EEXIST) return false;
    *failure_ = {.item = failure_->item};
  }
  const UniqueFd place = places_->Find(mount.target, &parent, &missing, &last);
  if (place.ok()) return ReadOnlyInPlace(mount.target, place.get());
  // A file stands where a directory would have to be (.git of a worktree): if it stays, so it is.
  if (errno == ENOTDIR) return ReadOnlyInPlace(mount.target, parent);
  if (errno != ENOENT) return Failed(Step::kTarget, errno);
  // If more of the path is missing, the first name that is not there stands for it.
  return CarveMissing(mount, parent, missing);
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
      unlinkat(root_.get(), kEmptyFile, 0) != 0 || unlinkat(root_.get(), kNowhere, 0) != 0) {
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

bool Root::Complete(const Keep& keep, Failure* failure) {
  failure_ = failure;
  keep_ = &keep;
  size_t next = 0;
  for (uint32_t i = 0; i < plan_->mounts.size(); ++i) {
    if (!late_[i]) continue;
    failure_->item = i;
    if (next < trees_.size() && trees_[next].mount == i) {
      const Late& late = trees_[next++];
      if (!Attach(late.tree.get(), plan_->mounts[i].target, late.directory)) return false;
    } else if (!AddLate(plan_->mounts[i])) {
      return false;
    }
  }
  for (const Kept& kept : kept_) {
    if (!kept.names.empty() && !CoverPlaceholder(kept.folder.get(), kept.names.front()))
      return false;
  }
  trees_.clear();
  stock_.clear();
  nowhere_.reset();
  failure_->item = Failure::kNoItem;
  return Seal();
}

}  // namespace berth::launcher
