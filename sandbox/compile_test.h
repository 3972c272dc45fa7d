// What the tests of compile.h share: a workspace with a repository, and a compiler for a machine
// that can do everything.
#ifndef BERTH_SANDBOX_COMPILE_TEST_H_
#define BERTH_SANDBOX_COMPILE_TEST_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/compile.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/policy.h"
#include "sandbox/probe.h"
#include "sandbox/tiers.h"
#include "sandbox/tiers_from_probe.h"

namespace berth {

// A machine that can do everything, whatever this one can.
inline TierReport Able() {
  KernelProbe probe;
  probe.landlock_version = 7;
  CgroupReport cgroups;
  cgroups.layout = "v2";
  for (auto* item : {&cgroups.memory, &cgroups.swap, &cgroups.pids, &cgroups.cpu}) {
    *item = {.held = true, .where = "here"};
  }
  return TierReportFrom(probe, cgroups);
}

class CompileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/compile.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = std::filesystem::canonical(name);
    ws_ = root_ + "/ws";
    std::filesystem::create_directories(ws_ + "/.git/hooks");
    std::ofstream(ws_ + "/.git/config") << "x";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  absl::StatusOr<CompiledPolicy> TryCompile(const Policy::Builder& builder,
                                            CompileOptions options = {}) {
    absl::StatusOr<Policy> policy = builder.Build();
    if (!policy.ok()) return policy.status();
    return compiler_.Compile(*policy, options);
  }
  launcher::SandboxPlan Plan(const Policy::Builder& builder, CompileOptions options = {}) {
    absl::StatusOr<CompiledPolicy> compiled = TryCompile(builder, std::move(options));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return compiled.ok() ? compiled->plan : launcher::SandboxPlan();
  }

  std::string root_, ws_;
  PolicyCompiler compiler_{Able()};
};

inline int IndexOf(const launcher::SandboxPlan& plan, launcher::SandboxMount::Kind kind,
                   const std::string& target) {
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    if (plan.mounts[i].kind == kind && plan.mounts[i].target == target) return static_cast<int>(i);
  }
  return -1;
}
inline const launcher::SandboxMount* Find(const launcher::SandboxPlan& plan,
                                          const std::string& target) {
  for (const launcher::SandboxMount& mount : plan.mounts) {
    if (mount.target == target) return &mount;
  }
  return nullptr;
}

}  // namespace berth

#endif  // BERTH_SANDBOX_COMPILE_TEST_H_
