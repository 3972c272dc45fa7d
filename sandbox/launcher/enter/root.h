// Root: what a sandbox of the tiers `namespaces` and `pooled` sees as "/".
//
// A tmpfs of our own, put together from the plan's mounts in their order and then made read-only.
// Built by the first process of a new user and mount namespace, in a copy of its helper's memory,
// in three steps. Begin makes what every sandbox has, and needs no plan. Prepare makes the rest of
// what nobody on the host can see or disturb, and may be done long before it is needed. Complete
// makes what stands in the host's own folders (a carve-out and its placeholder, a mask, something
// bound into something bound), where names change.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/failure.h"
#include "sandbox/launcher/enter/place.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

class Root {
 public:
  // The namespace has its new root, with /proc and /dev in it; this process still sees the old one.
  bool Begin(Failure* failure);
  // After it the old root is gone and the working directory is "/". The plan, which has a /proc and
  // a /dev, must outlive this.
  bool Prepare(const SandboxPlan& plan, Failure* failure);
  // For one that waits between the two: makes now what Complete would make, and nobody sees.
  bool Stock(Failure* failure);
  // `keep` is told of each folder of the host's that placeholders are about to be made in, to be
  // released when the sandbox is gone (placeholder.h): 0 or an errno.
  using Keep = std::function<int(int folder)>;
  bool Complete(const Keep& keep, Failure* failure);

  // Of the binds; {} for other mounts. Once prepared.
  const std::vector<SourceIdentity>& sources() const { return sources_; }

 private:
  // Made, to be put into its place.
  struct Late {
    uint32_t mount;
    UniqueFd tree;
    bool directory;
  };
  // A folder of the host's with placeholders of ours.
  struct Kept {
    UniqueFd folder;
    dev_t device;
    ino_t inode;
    std::vector<std::string> names = {};
  };
  bool Failed(Step step, int error);
  bool IsLate(uint32_t index) const;
  bool MakeRoot();
  bool Pivot();
  bool MakeOwn();
  bool Enter();
  bool Add(uint32_t index);
  bool AddTree(uint32_t index, UniqueFd tree, bool directory);
  bool Attach(int tree, std::string_view target, bool directory);
  bool Bind(uint32_t index);
  bool Tmpfs(uint32_t index);
  bool Overlay(uint32_t index);
  bool Symlink(const SandboxMount& mount);
  bool Text(const SandboxMount& mount);
  bool FinishOwn(const SandboxMount& mount);
  // root_late.cc
  bool AddLate(const SandboxMount& mount);
  bool Mask(const SandboxMount& mount);
  bool Carve(const SandboxMount& mount);
  bool CarveNow(const SandboxMount& mount);
  bool CarveLink(const SandboxMount& mount);
  Kept* KeepFolder(int folder);
  UniqueFd Nowhere();
  bool CarveMissing(const SandboxMount& mount, int parent, const std::string& name);
  bool CoverPlaceholder(int folder, const std::string& name);
  bool ReadOnlyInPlace(std::string_view target, int place);
  bool Cover(std::string_view target, int place, const char* with);
  bool Seal();

  const SandboxPlan* plan_ = nullptr;
  Failure* failure_ = nullptr;
  UniqueFd root_, dev_;
  bool has_proc_ = false;
  std::optional<Places> places_;
  std::vector<SourceIdentity> sources_;
  std::vector<bool> late_;
  std::vector<Late> trees_;
  std::vector<UniqueFd> seal_;  // ours, to become read-only at the end
  const Keep* keep_ = nullptr;
  std::vector<Kept> kept_;
  size_t placeholders_ = 0;
  // What is mounted on placeholders: one that was, to be copied, and copies made ahead.
  UniqueFd nowhere_;
  std::vector<UniqueFd> stock_;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_ROOT_H_
