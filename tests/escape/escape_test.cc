#include "tests/escape/escape_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sandbox/compile.h"
#include "sandbox/tiers.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

// One line for each thing that was seen, if somebody collects them.
void Record(int row, absl::string_view what, absl::string_view tier, bool stopped,
            absl::string_view why) {
  const char* file = getenv("BERTH_ESCAPE_RESULTS");
  if (file == nullptr) return;
  std::ofstream(file, std::ios::app)
      << absl::StrCat(row, "\t", what, "\t", tier, "\t", geteuid() == 0 ? "root" : "plain", "\t",
                      stopped ? "stopped" : "not stopped", "\t", why, "\n");
}

}  // namespace

Policy::Builder EscapeTest::Preset() const {
  return Policy::Agent(work_).ReadOnly(getenv("BERTH_TEST_SELF")).Tier(GetParam());
}

launcher::SandboxPlan EscapeTest::Compiled(const Policy::Builder& builder) const {
  // Probed once: it starts processes.
  static auto* const compiler = new PolicyCompiler(TierReport::Probe());
  const absl::StatusOr<Policy> policy = builder.Build();
  EXPECT_TRUE(policy.ok()) << policy.status();
  if (!policy.ok()) return {};
  const absl::StatusOr<CompiledPolicy> compiled = compiler->Compile(*policy, {.tmp_dir = work_});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.ok() ? compiled->plan : launcher::SandboxPlan();
}

Outcome EscapeTest::Try(std::vector<std::string> actor) {
  Outcome outcome = Run(Agent(), ActorCommand(std::move(actor)));
  absl::StrAppend(&said_, outcome.out, outcome.err);
  return outcome;
}

Outcome EscapeTest::TryLine(const std::string& line) {
  Outcome outcome = EnclosedTest::Shell(Agent(), line);
  absl::StrAppend(&said_, outcome.out, outcome.err);
  return outcome;
}

void EscapeTest::Saw(int row, absl::string_view what, bool stopped, absl::string_view gap) const {
  const bool expected = gap.empty();
  EXPECT_EQ(stopped, expected) << what
                               << (expected ? ": was not stopped"
                                            : ": was stopped, and the table says that it is not")
                               << "\n"
                               << said_;
  Record(row, what, TierName(GetParam()), stopped, stopped ? "" : gap);
}

std::string TierOf(const testing::TestParamInfo<Tier>& tier) {
  return std::string(TierName(tier.param));
}

long Say(absl::string_view what, long result) {
  printf("%s: %s\n", std::string(what).c_str(), result < 0 ? strerror(errno) : "done");
  fflush(stdout);
  return result;
}

bool AnyDone(const Outcome& outcome) { return absl::StrContains(outcome.out, ": done\n"); }

}  // namespace berth
