// PolicyTest: sessions of a Runtime under the agent preset, with a workspace that they may write
// to, in each tier.
#ifndef BERTH_TESTS_ESCAPE_POLICY_TEST_H_
#define BERTH_TESTS_ESCAPE_POLICY_TEST_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/policy.h"
#include "tests/support/tree_test.h"

namespace berth {

class PolicyTest : public TreeTest, public testing::WithParamInterface<Tier> {
 protected:
  void SetUp() override;

  // The preset, with this test's own program to be executed.
  Policy::Builder Agent() const;
  // A session with pipes that runs an actor of this test (see tests/support/actor.h), or `line`.
  std::unique_ptr<Session> Act(const std::string& name, std::vector<std::string> actor,
                               const Policy::Builder& policy, bool durable = true);
  std::unique_ptr<Session> Shell(const std::string& name, const std::string& line,
                                 const Policy::Builder& policy, bool durable = true);

  static ExitStatus End(Session& session);
  // The next event; fails the test if none comes.
  static Event Next(Runtime& runtime);
  std::string Read(const std::string& name) const;  // of the workspace; "" if it is not there
  void Write(const std::string& name, const std::string& text) const;

  std::string space_;    // the workspace
  std::string outside_;  // a folder that no policy shows
};

// "namespaces", … as the name of a test's instance.
std::string TierOf(const testing::TestParamInfo<Tier>& tier);

// The tiers that every row of the list of escapes is tried in.
inline auto AllTiers() {
  return testing::Values(Tier::kNamespaces, Tier::kPooled, Tier::kLandlock);
}

}  // namespace berth

#endif  // BERTH_TESTS_ESCAPE_POLICY_TEST_H_
