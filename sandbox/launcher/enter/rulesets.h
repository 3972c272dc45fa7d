// Rulesets: what Landlock is to allow, made once for all programs of one plan.
//
// A rule is about a file and not about its path: so each path is looked up again at each start, and
// where another file is found than the one the rule is about, all rules are made anew. Whoever
// enforces a ruleset gets a domain of its own, as by one that was made for it alone.
// Used by the helper: no Abseil, no exceptions. Not thread-safe.
#ifndef BERTH_SANDBOX_LAUNCHER_ENTER_RULESETS_H_
#define BERTH_SANDBOX_LAUNCHER_ENTER_RULESETS_H_

#include <stddef.h>
#include <stdint.h>

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/enter/sources.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {

class Rulesets {
 public:
  // For a plan, known by its bytes. Ours, until the next call. -1: it cannot be made, and whoever
  // starts the program finds out why.
  int Get(std::string_view bytes, const SandboxPlan& plan);
  // Which one that was: another after the rules were made anew.
  uint64_t last() const { return kept_.empty() ? 0 : kept_.front().number; }
  // What was mounted may be another's now, with the same numbers.
  void Drop() { kept_.clear(); }

 private:
  static constexpr size_t kMost = 8;
  struct Kept {
    uint64_t number;
    std::string bytes;
    UniqueFd ruleset;
    std::vector<SourceIdentity> files;  // one for each rule
  };
  std::list<Kept> kept_;  // the last used first
  uint64_t made_ = 0;
};

}  // namespace berth::launcher

#endif  // BERTH_SANDBOX_LAUNCHER_ENTER_RULESETS_H_
