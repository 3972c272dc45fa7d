#include "sandbox/compile.h"

#include <linux/landlock.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cgroups/report.h"
#include "sandbox/compile_test.h"
#include "sandbox/dangerous.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/policy.h"
#include "sandbox/tiers.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using launcher::LandlockRule;
using launcher::SandboxLink;
using launcher::SandboxMount;
using launcher::SandboxNetwork;
using launcher::SandboxPlan;
using launcher::SandboxTier;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = launcher::SandboxMount::Kind;

uint64_t Rights(const SandboxPlan& plan, const std::string& path) {
  uint64_t access = 0;
  for (const LandlockRule& rule : plan.landlock) access |= rule.path == path ? rule.access : 0;
  return access;
}

TEST_F(CompileTest, ShowsTheSystemAsItIsAndReadOnly) {
  const SandboxPlan plan = Plan(Policy::Strict());
  EXPECT_EQ(plan.tier, SandboxTier::kPooled);
  const SandboxMount* usr = Find(plan, "/usr");
  ASSERT_NE(usr, nullptr);
  EXPECT_TRUE(usr->read_only);
  const SandboxMount* bin = Find(plan, "/bin");
  ASSERT_NE(bin, nullptr);
  EXPECT_EQ(bin->kind, fs::is_symlink("/bin") ? Kind::kSymlink : Kind::kBind);
  EXPECT_GE(IndexOf(plan, Kind::kProc, "/proc"), 0);
  EXPECT_GE(IndexOf(plan, Kind::kDev, "/dev"), 0);
  EXPECT_GE(IndexOf(plan, Kind::kTmpfs, "/tmp"), 0);
  for (const SandboxMount& mount : plan.mounts) {
    EXPECT_TRUE(mount.kind != Kind::kBind || mount.read_only) << mount.target;
  }
}

TEST_F(CompileTest, ShowsOfEtcOnlyWhatIsListed) {
  const SandboxPlan plan = Plan(Policy::Strict());
  EXPECT_NE(Find(plan, "/etc/passwd"), nullptr);
  for (const char* secret : {"/etc", "/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/sudoers",
                             "/etc/machine-id", "/etc/resolv.conf"}) {
    EXPECT_EQ(Find(plan, secret), nullptr) << secret;
  }
  if (fs::is_directory("/etc/ssl/private")) {
    EXPECT_GE(IndexOf(plan, Kind::kMask, "/etc/ssl/private"), 0);
  }
}

TEST_F(CompileTest, PutsParentsBeforeWhatIsInThem) {
  fs::create_directories(ws_ + ".x");
  fs::create_directories(ws_ + "/sub");
  const SandboxPlan plan =
      Plan(Policy::Agent(ws_).ReadOnly(ws_ + "/sub").ReadOnly(ws_ + ".x"), {.home = root_});
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    for (size_t j = i + 1; j < plan.mounts.size(); ++j) {
      EXPECT_FALSE(plan.mounts[i].target.starts_with(plan.mounts[j].target + "/"))
          << plan.mounts[i].target << " before " << plan.mounts[j].target;
    }
  }
  const int home = IndexOf(plan, Kind::kTmpfs, root_), work = IndexOf(plan, Kind::kBind, ws_);
  EXPECT_GE(home, 0);
  EXPECT_GT(work, home);
  EXPECT_GT(IndexOf(plan, Kind::kCarve, ws_ + "/.git/hooks"), work);
  EXPECT_FALSE(Find(plan, ws_)->read_only);
  EXPECT_TRUE(Find(plan, ws_ + "/sub")->read_only);
}

TEST_F(CompileTest, AWorkspaceInTmpIsSeenInThePrivateOne) {
  std::string name = "/tmp/berth-compile.XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const SandboxPlan plan = Plan(Policy::Agent(name));
  EXPECT_GT(IndexOf(plan, Kind::kBind, name), IndexOf(plan, Kind::kTmpfs, "/tmp"));
  fs::remove_all(name);
}

// A filter that refuses what comes after it is loaded would fail the start.
TEST_F(CompileTest, AProgramIsConfinedAheadOnlyIfNothingElseIsDenied) {
  EXPECT_TRUE(Plan(Policy::Agent(ws_)).ready_child);
  EXPECT_FALSE(Plan(Policy::Agent(ws_).DenySyscalls({"dup2"})).ready_child);
}

TEST_F(CompileTest, ResolvesNamesOnceAndKeepsTheGivenOneAsALink) {
  fs::create_symlink(ws_, root_ + "/alias");
  const SandboxPlan plan = Plan(Policy::Agent(root_ + "/alias"));
  const SandboxMount* bind = Find(plan, ws_);
  ASSERT_NE(bind, nullptr);
  EXPECT_EQ(bind->source, ws_);
  const SandboxMount* link = Find(plan, root_ + "/alias");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->kind, Kind::kSymlink);
  EXPECT_EQ(link->source, ws_);
  EXPECT_GE(IndexOf(plan, Kind::kCarve, ws_ + "/.git/hooks"), 0);
}

TEST_F(CompileTest, RefusesWhatCannotBeShown) {
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnly(root_ + "/none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none")));
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnlyIfThere(root_ + "/none")).status(), IsOk());
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnly("/proc/self/fd")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/proc")));
  EXPECT_THAT(TryCompile(Policy::Builder().ReadWrite("/dev/null")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/null")));
  ASSERT_EQ(mkfifo((root_ + "/fifo").c_str(), 0600), 0);
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnly(root_ + "/fifo")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no folder, file or socket")));
  std::ofstream(root_ + "/docker.sock") << "";
  fs::create_symlink(root_ + "/docker.sock", root_ + "/innocent");
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnly(root_ + "/innocent")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("engine's socket")));
  fs::create_symlink(ws_, root_ + "/again");
  EXPECT_THAT(TryCompile(Policy::Builder().ReadOnly(ws_).ReadWrite(root_ + "/again")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("leads to")));
  EXPECT_THAT(
      TryCompile(Policy::Builder().CopyOnWrite(ws_ + "/.git/config"), {.changes_dir = "/c"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("only folders")));
}

TEST_F(CompileTest, HidesSecretsThatAWiderPathWouldShow) {
  fs::create_directories(root_ + "/.ssh");
  fs::create_directories(root_ + "/state/berth");
  const SandboxPlan plan = Plan(Policy::Builder().ReadWrite(root_),
                                {.home = root_, .secrets = {root_ + "/state/berth", "/nowhere"}});
  EXPECT_GE(IndexOf(plan, Kind::kMask, root_ + "/.ssh"), 0);
  EXPECT_GE(IndexOf(plan, Kind::kMask, root_ + "/state/berth"), 0);
  EXPECT_EQ(Find(plan, root_ + "/.aws"), nullptr);
}

TEST_F(CompileTest, ASecretThatHoldsTheWorkspaceIsEmptyButForIt) {
  const SandboxPlan plan =
      Plan(Policy::Builder().ReadOnly(root_).ReadWrite(ws_ + "/.git").Hide(ws_));
  const SandboxMount* hidden = Find(plan, ws_);
  ASSERT_NE(hidden, nullptr);
  EXPECT_EQ(hidden->kind, Kind::kTmpfs);
  EXPECT_TRUE(hidden->read_only);
  EXPECT_GT(IndexOf(plan, Kind::kBind, ws_ + "/.git"), IndexOf(plan, Kind::kTmpfs, ws_));
}

TEST_F(CompileTest, CopyOnWriteKeepsChangesApart) {
  const SandboxPlan plan =
      Plan(Policy::Agent(ws_).CopyOnWrite(ws_), {.changes_dir = root_ + "/changes"});
  const SandboxMount* mount = Find(plan, ws_);
  ASSERT_NE(mount, nullptr);
  EXPECT_EQ(mount->kind, Kind::kOverlay);
  EXPECT_EQ(mount->source, ws_);
  EXPECT_EQ(mount->upper, root_ + "/changes/0/upper");
  EXPECT_EQ(mount->work, root_ + "/changes/0/work");
  EXPECT_THAT(TryCompile(Policy::Agent(ws_).CopyOnWrite(ws_)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("changes")));
}

TEST_F(CompileTest, LimitsReachGroupsAndProcesses) {
  const SandboxPlan plan = Plan(Policy::Builder()
                                    .System()
                                    .Memory(1 << 30)
                                    .Swap(0)
                                    .Pids(7)
                                    .Cpus(1.5)
                                    .FileSize(123)
                                    .OpenFiles(64)
                                    .TmpSize(1 << 20)
                                    .Tmpfs("/tmp"));
  EXPECT_EQ(plan.memory_bytes, 1 << 30);
  EXPECT_EQ(plan.swap_bytes, 0);
  EXPECT_EQ(plan.pids, 7);
  EXPECT_EQ(plan.cpu_millis, 1500);
  const auto limit = [&plan](int resource) {
    for (const auto& one : plan.rlimits) {
      if (one.resource == resource) return static_cast<int64_t>(one.value);
    }
    return int64_t{-1};
  };
  EXPECT_EQ(limit(RLIMIT_FSIZE), 123);
  EXPECT_EQ(limit(RLIMIT_NOFILE), 64);
  EXPECT_EQ(Find(plan, "/tmp")->size, 1 << 20);
  EXPECT_EQ(Find(plan, "/dev")->size, 1 << 20);
}

TEST_F(CompileTest, LandlockGivesRightsAndNoMounts) {
  const absl::StatusOr<CompiledPolicy> compiled =
      TryCompile(Policy::Agent(ws_).Tier(Tier::kLandlock), {.tmp_dir = root_});
  ASSERT_THAT(compiled, IsOk());
  const SandboxPlan& plan = compiled->plan;
  EXPECT_EQ(plan.tier, SandboxTier::kLandlock);
  EXPECT_THAT(plan.mounts, IsEmpty());
  EXPECT_EQ(plan.landlock_fs, 0xffff);
  EXPECT_EQ(plan.landlock_scope, 3);
  EXPECT_TRUE(Rights(plan, ws_) & LANDLOCK_ACCESS_FS_WRITE_FILE);
  EXPECT_FALSE(Rights(plan, ws_) & LANDLOCK_ACCESS_FS_MAKE_CHAR);
  EXPECT_FALSE(Rights(plan, "/usr") & LANDLOCK_ACCESS_FS_WRITE_FILE);
  EXPECT_TRUE(Rights(plan, "/usr") & LANDLOCK_ACCESS_FS_EXECUTE);
  EXPECT_TRUE(Rights(plan, root_) & LANDLOCK_ACCESS_FS_MAKE_REG);
  EXPECT_EQ(Rights(plan, "/"), 0);
  EXPECT_EQ(Rights(plan, "/tmp"), 0);
  EXPECT_EQ(Rights(plan, "/dev"), 0);
  EXPECT_THAT(compiled->weaker, Contains(HasSubstr("carve-outs")));
}

TEST_F(CompileTest, AnAllowListTakesAProxy) {
  EXPECT_THAT(TryCompile(Policy::Agent(ws_).AllowDomains({"a.b"})),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("proxy")));
  const SandboxPlan plan =
      Plan(Policy::Agent(ws_).AllowDomains({"a.b", "*.c.d:8443"}), {.proxy_token = "t"});
  EXPECT_EQ(plan.network, SandboxNetwork::kProxy);
  EXPECT_THAT(plan.proxy_rules, ElementsAre("a.b", "*.c.d:8443"));
  EXPECT_EQ(plan.proxy_token, "t");
  EXPECT_GT(plan.proxy_port, 0);
}

TEST_F(CompileTest, TheHostsNetworkHasItsNamesButNotItsAbstractSockets) {
  const SandboxPlan plan = Plan(Policy::Agent(ws_).Relax(dangerous::HostNetwork()));
  EXPECT_EQ(plan.network, SandboxNetwork::kHost);
  EXPECT_EQ(plan.landlock_scope, 3);
  EXPECT_EQ(Find(plan, "/etc/resolv.conf") != nullptr, fs::exists("/etc/resolv.conf"));
}

TEST_F(CompileTest, FiltersAreThereUnlessATokenTookThemAway) {
  EXPECT_THAT(Plan(Policy::Agent(ws_)).filter, Not(IsEmpty()));
  EXPECT_TRUE(Plan(Policy::Agent(ws_)).notifies);
  EXPECT_THAT(Plan(Policy::Agent(ws_).Relax(dangerous::SeccompOff())).filter, IsEmpty());
  EXPECT_THAT(TryCompile(Policy::Agent(ws_).DenySyscalls({"no_such"})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no_such")));
  EXPECT_NE(Plan(Policy::Agent(ws_)).filter, Plan(Policy::Agent(ws_).Tier(Tier::kLandlock)).filter);
}

TEST_F(CompileTest, FilesAreToldOnlyWhereThePolicyAsksForIt) {
  for (const Tier tier : {Tier::kNamespaces, Tier::kPooled, Tier::kLandlock}) {
    const SandboxPlan silent = Plan(Policy::Agent(ws_).Tier(tier));
    EXPECT_THAT(silent.told_calls, IsEmpty());
    EXPECT_THAT(silent.links, IsEmpty());
    EXPECT_THAT(silent.missing, IsEmpty());
    EXPECT_THAT(silent.absent, IsEmpty());
    const SandboxPlan telling = Plan(Policy::Agent(ws_).Tier(tier).ReportFiles());
    EXPECT_THAT(telling.told_calls, Contains(SYS_openat));
    EXPECT_NE(telling.filter, silent.filter);
    SandboxPlan again;
    ASSERT_TRUE(again.Decode(telling.Encode()));
    EXPECT_EQ(again.Encode(), telling.Encode());
  }
}

TEST_F(CompileTest, WhatIsToldKnowsLinksAndFoldersThatAreMissing) {
  fs::create_symlink(ws_, root_ + "/alias");
  const SandboxPlan plan =
      Plan(Policy::Agent(root_ + "/alias").Tier(Tier::kLandlock).ReportFiles());
  EXPECT_THAT(plan.links, Contains(AllOf(Field(&SandboxLink::path, root_ + "/alias"),
                                         Field(&SandboxLink::text, ws_))));
  EXPECT_THAT(Plan(Policy::Agent(ws_).ReadOnlyIfThere(root_ + "/none").ReportFiles()).absent,
              Contains(root_ + "/none"));
  EXPECT_THAT(Plan(Policy::Agent(ws_).ReportFiles()).missing, IsEmpty());
  fs::remove_all(ws_ + "/.git");
  EXPECT_THAT(Plan(Policy::Agent(ws_).ReportFiles()).missing, ElementsAre(ws_ + "/.git"));
}

TEST_F(CompileTest, FilesThatCannotBeToldAreWeaker) {
  absl::StatusOr<CompiledPolicy> compiled =
      TryCompile(Policy::Agent(ws_).ReportFiles().Relax(dangerous::SeccompOff()));
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(compiled->weaker, Contains(HasSubstr("files are not told")));
  TierReport report = Able();
  report.notify = {.state = Ability::State::kMissing, .reason = "no listener"};
  PolicyCompiler unable(report);
  compiled = unable.Compile(*Policy::Agent(ws_).ReportFiles().Build(), {});
  ASSERT_THAT(compiled, IsOk());
  EXPECT_THAT(compiled->plan.told_calls, IsEmpty());
  EXPECT_THAT(compiled->weaker, Contains("files are not told: no listener"));
}

TEST_F(CompileTest, PlansOfOnePolicyAreTheSameAndGoOverTheWire) {
  const SandboxPlan one = Plan(Policy::Agent(ws_)), same = Plan(Policy::Agent(ws_));
  EXPECT_EQ(one.Encode(), same.Encode());
  EXPECT_NE(one.Encode(), Plan(Policy::Agent(ws_), {.home = "/srv/other"}).Encode());
  SandboxPlan decoded;
  ASSERT_TRUE(decoded.Decode(one.Encode()));
  EXPECT_EQ(decoded.Encode(), one.Encode());
}

TEST_F(CompileTest, KnowsWhatCanBeAWorkingDirectory) {
  const SandboxPlan plan = Plan(Policy::Agent(ws_), {.home = "/srv/someone"});
  for (const std::string& path : std::vector<std::string>{"/", "/usr/lib", ws_, ws_ + "/a/b", root_,
                                                          "/tmp", "/srv/someone"}) {
    EXPECT_TRUE(PlanShows(plan, path)) << path;
  }
  for (const std::string& path :
       std::vector<std::string>{"/tmp/elsewhere", "/mnt", "/srv/someone/x", "/etcx"}) {
    EXPECT_FALSE(PlanShows(plan, path)) << path;
  }
}

}  // namespace
}  // namespace berth
