// EscapeTest: programs that try to get out of the agent preset, in each tier, as root and as a
// plain user. A test looks at the host and says what it saw; what was seen is what
// docs/threat_model.md has (see table.py).
#ifndef BERTH_TESTS_ESCAPE_ESCAPE_TEST_H_
#define BERTH_TESTS_ESCAPE_ESCAPE_TEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/policy.h"
#include "tests/escape/enclosed_test.h"

namespace berth {

class EscapeTest : public EnclosedTest, public testing::WithParamInterface<Tier> {
 protected:
  bool landlock() const { return GetParam() == Tier::kLandlock; }

  // The preset with the workspace, and this test's own program to be executed.
  Policy::Builder Preset() const;
  launcher::SandboxPlan Compiled(const Policy::Builder& policy) const;
  launcher::SandboxPlan Agent() const { return Compiled(Preset()); }

  // An actor of this test (tests/support/actor.h), or a line for the shell, under the preset.
  Outcome Try(std::vector<std::string> actor);
  Outcome TryLine(const std::string& line);

  // Row `row` of the list of escapes: that `what` was stopped, by what the host saw. Where the tier
  // landlock cannot, `gap` says why: then it must be seen not to.
  void Held(int row, absl::string_view what, bool stopped, absl::string_view gap = "") const {
    Saw(row, what, stopped, landlock() ? gap : "");
  }
  // The same; `gap` is this tier's, "" if it has none.
  void Saw(int row, absl::string_view what, bool stopped, absl::string_view gap) const;

 private:
  std::string said_;  // by what was tried, for people
};

// The tiers that all are tried in.
inline auto AllTiers() {
  return testing::Values(Tier::kNamespaces, Tier::kPooled, Tier::kLandlock);
}
// "namespaces", … as the name of a test's instance.
std::string TierOf(const testing::TestParamInfo<Tier>& tier);

// Of actors: prints "what: done" or "what: " and why not.
long Say(absl::string_view what, long result);
// Whether one of these was done.
bool AnyDone(const Outcome& outcome);

}  // namespace berth

#endif  // BERTH_TESTS_ESCAPE_ESCAPE_TEST_H_
