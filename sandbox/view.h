// View: which parts of the host a policy shows, with the host's names resolved. What the mounts of
// one tier and the Landlock rules of the other are made from.
#ifndef BERTH_SANDBOX_VIEW_H_
#define BERTH_SANDBOX_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/policy.h"

namespace berth {

struct View {
  // Something of the host's.
  struct Shown {
    std::string source;  // resolved
    std::string target;
    Policy::Access access = Policy::Access::kReadOnly;
    bool folder = true;  // only of what the policy lists
  };
  // A link in a folder of our own; or one of the host's.
  struct Link {
    std::string text, target;
  };
  std::vector<Shown> shown;
  std::vector<Link> links;
  std::vector<std::string> carved;  // targets
  std::vector<Link> carved_links;   // the same of those that are symlinks, which stay what they are
  std::vector<std::string> missing;       // folders that carve-outs are in, and that are not there
  std::vector<std::string> placeholders;  // targets that stand for what is not there
  std::vector<std::string> hidden;        // targets
  std::vector<std::string> absent;        // what would be shown if it were there
  std::vector<std::string> private_folders;

  // The one that shows `target`: the closest above it, or at it. Null: none does.
  const Shown* Above(absl::string_view target) const;
  // Where in the view something of the host's is, if it is; `source` is resolved.
  std::vector<std::string> TargetsOf(absl::string_view source) const;
  // Whether something is shown at or below `target`.
  bool ShowsBelow(absl::string_view target) const;
};

// `home`: of the workload, or "". `secrets`: names of the host that are hidden wherever they would
// be seen.
absl::StatusOr<View> ResolveView(const Policy& policy, absl::string_view home,
                                 const std::vector<std::string>& secrets);

}  // namespace berth

#endif  // BERTH_SANDBOX_VIEW_H_
