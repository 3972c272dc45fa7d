#include "sandbox/launcher/enter/file_view.h"

#include <linux/landlock.h>

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/enter/own_names.h"

namespace berth::launcher {
namespace {

constexpr char kNotShown[] = "not shown", kHiddenWord[] = "hidden", kReadOnlyWord[] = "read-only",
               kNotAllowed[] = "not allowed";

constexpr int kMaxLinks = 40;  // as the kernel

constexpr uint64_t kReads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

// Takes the next name of a path off its front; "" at its end.
std::string_view Next(std::string_view* path) {
  while (!path->empty() && path->front() == '/') path->remove_prefix(1);
  const std::string_view name = path->substr(0, path->find('/'));
  path->remove_prefix(name.size());
  return name;
}

bool AtEnd(std::string_view rest) { return rest.find_first_not_of('/') == rest.npos; }

bool IsProcess(std::string_view name) {
  return name == "self" || name == "thread-self" ||
         (!name.empty() && name.find_first_not_of("0123456789") == name.npos);
}

// Otherwise the call is about the name, not about what it leads to.
bool Follows(FileAccess access) { return access <= FileAccess::kCreate; }

// Whether it makes what is not there.
bool Makes(FileAccess access) {
  return access == FileAccess::kCreate || access == FileAccess::kMake ||
         access == FileAccess::kReplace;
}

}  // namespace

FileView::FileView(const SandboxPlan& plan, bool root)
    : landlock_(plan.tier == SandboxTier::kLandlock) {
  nodes_.emplace_back();
  if (landlock_) {
    for (const LandlockRule& rule : plan.landlock) At(rule.path)->rights |= rule.access;
    for (const SandboxLink& link : plan.links) At(link.path)->link = link.text;
    AddLinks("/dev");
  } else {
    nodes_[0].kind = Kind::kOwn;
    for (const SandboxMount& mount : plan.mounts) Add(mount, root);
    for (const std::string& folder : plan.missing) At(folder)->kind = Kind::kCarve;
  }
  for (const std::string& path : plan.absent) At(path)->kind = Kind::kAbsent;
  const auto proc = nodes_[0].names.find("proc");
  if (proc != nodes_[0].names.end()) proc_ = &nodes_[proc->second];
}

FileView::Node* FileView::At(std::string_view path) {
  size_t at = 0;
  for (std::string_view name = Next(&path); !name.empty(); name = Next(&path)) {
    const auto found = nodes_[at].names.find(name);
    if (found != nodes_[at].names.end()) {
      at = found->second;
      continue;
    }
    const size_t next = nodes_.size();
    nodes_[at].names.emplace(name, next);
    nodes_.emplace_back();
    at = next;
  }
  return &nodes_[at];
}

void FileView::AddLinks(std::string_view dev) {
  for (const DeviceLink& link : kDeviceLinks) {
    At(std::string(dev) + "/" + link.name)->link = link.text;
  }
}

void FileView::Add(const SandboxMount& mount, bool root) {
  using Mount = SandboxMount::Kind;
  const auto inside = [&](const char* name) { return At(mount.target + "/" + name); };
  Node* node = At(mount.target);
  switch (mount.kind) {
    case Mount::kBind:
    case Mount::kOverlay:
      node->kind = mount.read_only ? Kind::kReadOnly : Kind::kWritable;
      return;
    case Mount::kTmpfs:
      node->kind = mount.read_only ? Kind::kOwn : Kind::kWritable;
      return;
    case Mount::kSymlink:
      node->link = mount.source;
      return;
    case Mount::kText:
      node->kind = Kind::kReadOnly;
      return;
    case Mount::kMask:
      node->kind = Kind::kHidden;
      return;
    case Mount::kCarve:
      node->kind = Kind::kCarve;
      node->link = mount.source;
      return;
    case Mount::kProc:
      node->kind = Kind::kWritable;
      for (const char* name : kAnybodys) inside(name)->kind = Kind::kReadOnly;
      if (!root) return;
      for (const char* name : kRootsOwn) inside(name)->kind = Kind::kReadOnly;
      return;
    case Mount::kDev:
      node->kind = Kind::kOwn;
      for (const Device& device : kDevices) inside(device.name)->kind = Kind::kWritable;
      for (const char* name : {kTerminals, kSharedMemory}) inside(name)->kind = Kind::kWritable;
      AddLinks(mount.target);
      return;
  }
}

// One name down. What /proc has of a process leads to what that has open, whatever its name.
bool FileView::Enter(std::string_view name, std::vector<Step>* steps) const {
  using In = Step::In;
  const Step from = steps->back();
  Step to;
  if (from.node != nullptr) {
    const auto found = from.node->names.find(name);
    if (found != from.node->names.end()) to.node = &nodes_[found->second];
  }
  switch (from.in) {
    case In::kElsewhere:
      if (proc_ != nullptr && from.node == proc_ && IsProcess(name)) to.in = In::kProcess;
      break;
    case In::kTasks:
      to.in = In::kProcess;
      break;
    case In::kProcess:
      if (name == "cwd" || name == "root" || name == "exe") return false;
      if (name == "task") to.in = In::kTasks;
      if (name == "fd" || name == "map_files") to.in = In::kDescriptors;
      break;
    case In::kDescriptors:
      return false;
  }
  steps->push_back(to);
  return true;
}

bool FileView::Walk(std::string_view path, bool follows, std::vector<Step>* steps) const {
  const Step top{.node = &nodes_[0]};
  steps->assign(1, top);
  std::string text;  // of links, with what comes after them
  int links = 0;
  for (std::string_view name = Next(&path); !name.empty(); name = Next(&path)) {
    if (name == ".") continue;
    if (name == "..") {
      if (steps->size() > 1) steps->pop_back();
      continue;
    }
    if (!Enter(name, steps)) return false;
    const Node* node = steps->back().node;
    if (node == nullptr || node->link.empty() || (!follows && AtEnd(path))) continue;
    if (++links > kMaxLinks) return false;
    steps->pop_back();
    if (node->link.front() == '/') steps->assign(1, top);
    text = node->link + "/" + std::string(path);
    path = text;
  }
  return true;
}

const char* FileView::JudgeMounts(const std::vector<Step>& steps, FileAccess access) const {
  const Node* const node = steps.back().node;  // null: not one that the plan names
  const bool has_parent = steps.size() < 2 || steps[steps.size() - 2].node != nullptr;
  const Node* above = nullptr;  // the closest that decides; "/" does
  for (const Step& step : steps) {
    if (step.node != nullptr && step.node->kind != Kind::kWay) above = step.node;
  }
  const bool looks = access <= FileAccess::kRead;
  switch (above->kind) {
    case Kind::kHidden:
      return kHiddenWord;
    case Kind::kReadOnly:
    case Kind::kCarve:
      if (looks) return nullptr;
      // It is there: so says the kernel, before it says that nothing could be made.
      if (access == FileAccess::kMake && node != nullptr && node->kind != Kind::kCarve) {
        return nullptr;
      }
      return kReadOnlyWord;
    case Kind::kWritable:
      // What something is mounted on, or below it, stays where it is.
      return access >= FileAccess::kReplace && node != nullptr ? kReadOnlyWord : nullptr;
    case Kind::kAbsent:
      return Makes(access) ? kReadOnlyWord : nullptr;
    case Kind::kOwn:
    case Kind::kWay:
      break;
  }
  if (node != nullptr) return looks || access == FileAccess::kMake ? nullptr : kReadOnlyWord;
  return Makes(access) && has_parent ? kReadOnlyWord : kNotShown;
}

const char* FileView::JudgeRules(const std::vector<Step>& steps, FileAccess access) {
  uint64_t rights = 0, above = 0;  // they add up on the way down
  bool given = false;
  for (const Step& step : steps) {
    above = rights;
    if (step.node == nullptr) continue;
    rights |= step.node->rights;
    if (step.node->kind == Kind::kAbsent && access <= FileAccess::kWrite) return nullptr;
  }
  switch (access) {
    case FileAccess::kLook:
      return nullptr;
    case FileAccess::kRead:
      return (rights & kReads) != 0 ? nullptr : kNotAllowed;
    case FileAccess::kWrite:
    case FileAccess::kCreate:
      given = (rights & LANDLOCK_ACCESS_FS_WRITE_FILE) != 0;
      break;
    case FileAccess::kMake:
      // What a rule is about is there.
      given = steps.back().node != nullptr || (above & LANDLOCK_ACCESS_FS_MAKE_REG) != 0;
      break;
    case FileAccess::kReplace:
      given = (above & LANDLOCK_ACCESS_FS_MAKE_REG) != 0;
      break;
    case FileAccess::kRemove:
      given = (above & LANDLOCK_ACCESS_FS_REMOVE_FILE) != 0;
      break;
  }
  if (given) return nullptr;
  return (rights & kReads) != 0 ? kReadOnlyWord : kNotAllowed;
}

const char* FileView::Judge(std::string_view path, FileAccess access) const {
  std::vector<Step> steps;
  if (path.empty() || path.front() != '/' || !Walk(path, Follows(access), &steps)) return nullptr;
  return landlock_ ? JudgeRules(steps, access) : JudgeMounts(steps, access);
}

std::string CleanPath(std::string_view path) {
  std::string clean;
  for (std::string_view name = Next(&path); !name.empty(); name = Next(&path)) {
    if (name == ".") continue;
    if (name == "..") {
      clean.resize(clean.empty() ? 0 : clean.rfind('/'));
    } else {
      clean.append("/").append(name);
    }
  }
  return clean.empty() ? "/" : clean;
}

}  // namespace berth::launcher
