// EnclosedTest: programs started by a launcher in a sandbox whose plan the test writes itself, with
// a workspace that they may write to. What they leave behind fails the test.
#ifndef BERTH_TESTS_ESCAPE_ENCLOSED_TEST_H_
#define BERTH_TESTS_ESCAPE_ENCLOSED_TEST_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/forked.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth {

// How a program ended and what it wrote.
struct Outcome {
  launcher::ExitNotice exit;
  std::string out, err;
  bool prepared = false;  // it ran in a sandbox that had waited for it
};

class EnclosedTest : public testing::Test {
 protected:
  using Mount = launcher::SandboxMount;

  void SetUp() override;
  void TearDown() override;

  // The system read-only, the workspace writable, private /tmp, /proc, /dev; the test's own program
  // as /probe; no network; no filter.
  launcher::SandboxPlan Plan() const;
  // The same paths by Landlock, without namespaces.
  launcher::SandboxPlan LandlockPlan() const;
  // A filter that fails each of these calls with EPERM and allows the rest.
  static std::string Denying(const std::vector<int>& calls);

  // Starts `argv` in the workspace; waits for its end and for that of its whole tree.
  Outcome Run(const launcher::SandboxPlan& plan, const std::vector<std::string>& argv);
  Outcome Shell(const launcher::SandboxPlan& plan, const std::string& line) {
    return Run(plan, {"/bin/sh", "-c", line});
  }
  // An actor of this test: see tests/support/actor.h.
  Outcome Act(const launcher::SandboxPlan& plan, std::vector<std::string> command);
  // The start alone. In the tiers pooled and landlock one is made ready before, and taken.
  absl::StatusOr<launcher::Spawned> Start(const launcher::SandboxPlan& plan,
                                          const std::vector<std::string>& argv,
                                          const std::string& cwd, int out, int err);

  static launcher::ExitNotice AwaitEnd(const launcher::Spawned& spawned);
  static void AwaitGone(const launcher::Spawned& spawned);

  // The launcher's children: those that wait, while nothing else runs.
  std::vector<pid_t> Waiting() const;

  std::string Path(absl::string_view name) const;
  void Write(absl::string_view name, absl::string_view text) const;
  // "" if it is not there.
  std::string Read(absl::string_view name) const;

  std::string work_;     // the workspace
  std::string outside_;  // a folder of the host's that no plan shows
  // Before the client, of which it is the launcher then: see SetUp.
  std::optional<launcher::ForkedLauncher> forked_;
  std::unique_ptr<launcher::LauncherClient> client_;
  bool prepares_ = true;  // before a start in these tiers

 private:
  std::string base_;
};

}  // namespace berth

#endif  // BERTH_TESTS_ESCAPE_ENCLOSED_TEST_H_
