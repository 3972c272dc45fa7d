// FileView: what a plan gives a program of the file system, by names alone.
//
// It is for telling what a program was kept from, never for keeping it: the kernel does that. Since
// one helper serves many sandboxes nothing is looked up, so that no file system can hold it up. Of
// links it knows those that the plan makes; one that the program has made can mislead it, and what
// is there or not below a folder of the host's it does not know.
// Used by the helper: no Abseil, no exceptions. Immutable once made.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_FILE_VIEW_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_FILE_VIEW_H_

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

enum class FileAccess : uint8_t {
  kLook,     // a descriptor for the name and no more (O_PATH)
  kRead,     // what is there
  kWrite,    // what is there
  kCreate,   // write, and make it if it is not there
  kMake,     // fails where something is
  kReplace,  // gives the name to something else
  kRemove,   // takes the name away
};

class FileView {
 public:
  // `root`: the program is the host's uid 0.
  FileView(const SandboxPlan& plan, bool root);
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  // Why the plan does not give that: "not shown", "hidden", "read-only", "not allowed". Null if it
  // may, or if names alone do not say. `path` is absolute and may be any bytes.
  const char* Judge(std::string_view path, FileAccess access) const;

 private:
  enum class Kind : uint8_t {
    kWay,       // on the way to something, and known for nothing else
    kOwn,       // a read-only folder of our own: nothing is in it but what the plan names
    kReadOnly,  // of the host's
    kCarve,     // the same; and stands there so that it is not made
    kWritable,  // of the host's, or private
    kHidden,
    kAbsent,  // would be shown if it were there
  };
  struct Node {
    Kind kind = Kind::kWay;
    uint64_t rights = 0;    // LANDLOCK_ACCESS_FS_*
    std::string link = {};  // if it is one
    std::map<std::string, size_t, std::less<>> names = {};
  };
  // Where a walk has come to.
  struct Step {
    const Node* node = nullptr;  // null: nothing that the plan names
    enum class In : uint8_t { kElsewhere, kProcess, kTasks, kDescriptors } in = In::kElsewhere;
  };

  Node* At(std::string_view path);
  void Add(const SandboxMount& mount, bool root);
  void AddLinks(std::string_view dev);
  // From "/" on; false if it leads where names do not.
  bool Walk(std::string_view path, bool follows, std::vector<Step>* steps) const;
  bool Enter(std::string_view name, std::vector<Step>* steps) const;
  const char* JudgeMounts(const std::vector<Step>& steps, FileAccess access) const;
  static const char* JudgeRules(const std::vector<Step>& steps, FileAccess access);

  const bool landlock_;
  std::vector<Node> nodes_;  // the first is "/"
  const Node* proc_ = nullptr;
};

// Without ".", ".." and doubled slashes, by name alone. `path` is absolute.
std::string CleanPath(std::string_view path);

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_FILE_VIEW_H_
