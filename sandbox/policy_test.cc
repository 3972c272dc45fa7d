#include "sandbox/policy.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/dangerous.h"
#include "sandbox/limits.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Path = Policy::Path;

Policy Built(const Policy::Builder& builder) {
  absl::StatusOr<Policy> policy = builder.Build();
  EXPECT_THAT(policy, IsOk());
  return *policy;
}

auto Refuses(const std::string& what) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
}

TEST(Builder, AllowsNothingThatWasNotSaid) {
  const Policy policy = Built(Policy::Builder());
  EXPECT_THAT(policy.paths(), IsEmpty());
  EXPECT_FALSE(policy.system());
  EXPECT_EQ(policy.network(), Policy::Network::kNone);
  EXPECT_FALSE(policy.inherited_environment() || policy.docker_socket() || policy.seccomp_off() ||
               policy.host_pid_namespace() || policy.nested_user_namespaces());
}

TEST(Builder, ReportsItsFirstErrorFromBuild) {
  EXPECT_THAT(Policy::Builder().ReadOnly("relative").ReadWrite("/a/../b").Memory(-1).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'relative'")));
}

TEST(Builder, WritesPathsInOneWay) {
  const Policy policy = Built(Policy::Builder().ReadOnly("//opt/./x/"));
  EXPECT_THAT(policy.paths(), ElementsAre(Path{.path = "/opt/x"}));
}

TEST(Builder, MakesAListedWorkspaceCopyOnWrite) {
  const Policy policy = Built(Policy::Agent("/w").CopyOnWrite("/w/"));
  EXPECT_EQ(policy.paths()[0], (Path{.path = "/w", .access = Policy::Access::kCopyOnWrite}));
}

TEST(Builder, GoesOnFromAPolicy) {
  const Policy first = Built(Policy::Agent("/w"));
  const Policy second = Built(Policy::Builder(first).Pids(9));
  EXPECT_EQ(second.limits().pids, 9);
  EXPECT_EQ(second.paths(), first.paths());
  EXPECT_EQ(Built(Policy::Builder(first)), first);
}

// ESCAPES.md, row 26.
TEST(HostileInput, IsRefusedByName) {
  using namespace std::string_literals;
  EXPECT_THAT(Policy::Builder().ReadOnly("").Build(), Refuses("empty"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/a\0z"s).Build(), Refuses("'/a\\x00z': it has a NUL"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/" + std::string(4096, 'a')).Build(),
              Refuses("4097 bytes"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/" + std::string(300, 'a')).Build(), Refuses("255"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/a/../../etc").Build(), Refuses("'..'"));
  EXPECT_THAT(Policy::Builder().ReadOnly("etc").Build(), Refuses("not absolute"));
  EXPECT_THAT(Policy::Builder().ReadWrite("/").Build(), Refuses("not the root itself"));
  EXPECT_THAT(Policy::Builder().ReadWrite("/./").Build(), Refuses("not the root itself"));
  EXPECT_THAT(Policy::Builder().Hide("/a\nb"s).Tmpfs("x\x1b").Build(), Refuses("'x\\x1b'"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/a").ReadWrite("/a/").Build(), Refuses("'/a'"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/a").Tmpfs("/a").Build(), Refuses("listed twice"));
  EXPECT_THAT(
      Policy::Builder().BindTo("/a", "/b", Policy::Access::kReadOnly).ReadOnly("/b").Build(),
      Refuses("'/b'"));
  EXPECT_THAT(Policy::Builder().BindTo("/a", "", Policy::Access::kReadOnly).Build(),
              Refuses("inside is empty"));
  EXPECT_THAT(Policy::Builder().Add({.path = "/a", .access = Policy::Access{77}}).Build(),
              Refuses("access 77"));
  EXPECT_THAT(Policy::Builder().ReadOnly("/w").Carve("/w/x").Build(), Refuses("'/w/x'"));
  EXPECT_THAT(Policy::Builder().ReadWrite("/w").Carve("/wx").Build(), Refuses("'/wx'"));
  EXPECT_THAT(Policy::Builder().Tier(Tier{9}).Build(), Refuses("tier 9"));
}

TEST(HostileInput, AHundredThousandPathsAreAnErrorAndLittleMemory) {
  Policy::Builder paths, tmpfs;
  for (int i = 0; i < 100000; ++i) {
    paths.ReadOnly(absl::StrCat("/p", i));
    tmpfs.Tmpfs(absl::StrCat("/p", i));
  }
  EXPECT_THAT(paths.Build(), Refuses("'/p1024': more than 1024"));
  EXPECT_THAT(tmpfs.Build(), Refuses("'/p1024': more than 1024"));
  EXPECT_THAT(Policy::Builder().AllowDomains(std::vector<std::string>(100000, "a.b")).Build(),
              Refuses("100000 domains"));
}

TEST(HostileInput, LimitsMustMakeSense) {
  EXPECT_THAT(Policy::Builder().Memory(-1).Build(), Refuses("'memory': -1"));
  EXPECT_THAT(Policy::Builder().Memory(100).Build(), Refuses("'memory': 100"));
  EXPECT_THAT(Policy::Builder().Swap(0).Build(), Refuses("'swap'"));
  EXPECT_THAT(Policy::Builder().Pids(0).Build(), Refuses("'pids'"));
  EXPECT_THAT(Policy::Builder().Cpus(std::nan("")).Build(), Refuses("'cpus'"));
  EXPECT_THAT(Policy::Builder().Cpus(INFINITY).Build(), Refuses("'cpus'"));
  EXPECT_THAT(Policy::Builder().Wall(-absl::Seconds(1)).Build(), Refuses("'wall'"));
  EXPECT_THAT(Policy::Builder().FileSize(-5).Build(), Refuses("'file_size'"));
  EXPECT_THAT(Policy::Builder().OpenFiles(1 << 30).Build(), Refuses("'open_files'"));
  EXPECT_THAT(Policy::Builder().TmpSize(1).Build(), Refuses("'tmp_size'"));
}

TEST(HostileInput, DomainsAreNamesAndNothingElse) {
  for (const std::string& domain : std::vector<std::string>{"",
                                                            "*",
                                                            "*.com",
                                                            "a..b",
                                                            "a.b.",
                                                            ".a.b",
                                                            "a_b.com",
                                                            "*.*.com",
                                                            "x*.com",
                                                            "http://a.com",
                                                            "a.com/x",
                                                            "a.com:0",
                                                            "a.com:65536",
                                                            "a.com:+1",
                                                            "1.2.3.4",
                                                            "[::1]",
                                                            "a b.com",
                                                            "é.com",
                                                            "-a.com",
                                                            std::string(64, 'a') + ".com",
                                                            std::string(400, 'a'),
                                                            std::string("a\0.com", 6)}) {
    EXPECT_THAT(Policy::Builder().AllowDomains({domain}).Build(), Refuses("domain '")) << domain;
  }
  EXPECT_THAT(Policy::Builder().AllowDomains({"a.b", "A.B"}).Build(), Refuses("twice"));
  EXPECT_THAT(Built(Policy::Builder().AllowDomains({"GitHub.com", "*.xn--e1a.org:8443"})).domains(),
              ElementsAre("github.com", "*.xn--e1a.org:8443"));
}

TEST(HostileInput, FamiliesAndCallsAreKnownOrRefused) {
  EXPECT_THAT(Policy::Builder().SocketFamilies({"packet"}).Build(), Refuses("'packet'"));
  EXPECT_THAT(Policy::Builder().SocketFamilies({"unix", "unix"}).Build(), Refuses("twice"));
  EXPECT_THAT(Policy::Builder().DenySyscalls({"rm -rf"}).Build(), Refuses("'rm -rf'"));
  EXPECT_THAT(Policy::Builder().Hostname("a b").Build(), Refuses("hostname 'a b'"));
  EXPECT_THAT(Policy::Builder().Hostname(std::string(65, 'a')).Build(), Refuses("hostname"));
}

TEST(Dangerous, AnEnginesSocketTakesAToken) {
  for (const char* path : {"/var/run/docker.sock", "/run/user/1000/podman/podman.sock",
                           "/run/containerd/containerd.sock"}) {
    EXPECT_THAT(Policy::Builder().ReadOnly(path).Build(), Refuses("RawDockerSocket")) << path;
    EXPECT_THAT(Policy::Builder().Hide(path).Build(), IsOk()) << path;
  }
  EXPECT_TRUE(Built(Policy::Builder().Relax(dangerous::RawDockerSocket())).docker_socket());
}

TEST(Presets, AgentsHaveAWorkspaceAndLittleElse) {
  const Policy policy = Built(Policy::Agent("/srv/p"));
  EXPECT_EQ(policy.paths()[0], (Path{.path = "/srv/p", .access = Policy::Access::kReadWrite}));
  for (const char* carve :
       {".git/hooks", ".git/config", ".git/config.worktree", ".bashrc", ".zshrc", ".profile",
        ".claude", ".mcp.json", ".cursor", ".codex", ".gemini", ".vscode", ".envrc"}) {
    EXPECT_THAT(policy.paths(), Contains(Path{.path = absl::StrCat("/srv/p/", carve),
                                              .access = Policy::Access::kCarve}));
  }
  EXPECT_TRUE(policy.system() && policy.private_home());
  EXPECT_THAT(policy.tmpfs(), Contains("/tmp"));
  EXPECT_EQ(policy.network(), Policy::Network::kNone);
  EXPECT_FALSE(policy.debugging());
  EXPECT_GT(policy.limits().memory_bytes, 0);
  EXPECT_GT(policy.limits().pids, 0);
}

TEST(Presets, BuildsMayDebugAndUseMore) {
  const Policy agent = Built(Policy::Agent("/p")), build = Built(Policy::Build("/p"));
  EXPECT_TRUE(build.debugging());
  EXPECT_EQ(agent.paths(), build.paths());
  EXPECT_GT(build.limits().memory_bytes, agent.limits().memory_bytes);
  EXPECT_GT(build.limits().pids, agent.limits().pids);
}

TEST(Presets, StrictHasNoPathOfTheUsers) {
  const Policy policy = Built(Policy::Strict());
  EXPECT_THAT(policy.paths(), IsEmpty());
  EXPECT_THAT(policy.tmpfs(), ElementsAre("/tmp"));
  EXPECT_THAT(policy.socket_families(), ElementsAre("unix"));
}

TEST(Presets, RefuseAWorkspaceThatIsNone) {
  EXPECT_THAT(Policy::Agent("work").Build(), Refuses("'work'"));
  EXPECT_THAT(Policy::Agent("/").Build(), Refuses("'/'"));
  EXPECT_THAT(Policy::Preset("agent", "").status(), Refuses("needs a workspace"));
  EXPECT_THAT(Policy::Preset("strict", "/w").status(), Refuses("no workspace"));
  EXPECT_THAT(Policy::Preset("Agent", "/w").status(), Refuses("'Agent'"));
}

TEST(Hash, IsEqualForEqualPoliciesOnly) {
  EXPECT_EQ(Built(Policy::Agent("/w")).hash(), Built(Policy::Agent("/w/")).hash());
  EXPECT_NE(Built(Policy::Agent("/w")).hash(), Built(Policy::Agent("/v")).hash());
  EXPECT_NE(Built(Policy::Agent("/w")).hash(), Built(Policy::Agent("/w").Pids(3)).hash());
  EXPECT_NE(Built(Policy::Builder()).hash(),
            Built(Policy::Builder().Relax(dangerous::SeccompOff())).hash());
  EXPECT_EQ(Built(Policy::Agent("/w")).hash().size(), 64);
}

TEST(Text, RoundTripsEverything) {
  const Policy policy = Built(Policy::Agent("/w")
                                  .ReadOnlyIfThere("/opt/\xff")
                                  .BindTo("/src", "/dst \"quoted\"", Policy::Access::kReadOnly)
                                  .Hide("/w/secret")
                                  .AllowDomains({"a.com", "*.b.org:8443"})
                                  .Memory(123456789)
                                  .Swap(0)
                                  .Pids(7)
                                  .Cpus(0.333)
                                  .Wall(absl::Hours(30) + absl::Milliseconds(1234))
                                  .FileSize(99)
                                  .OpenFiles(64)
                                  .TmpSize(4096)
                                  .Tier(Tier::kNamespaces)
                                  .SocketFamilies({"unix"})
                                  .DenySyscalls({"chroot", "acct"})
                                  .Hostname("box")
                                  .Debugging()
                                  .ReportFiles());
  const absl::StatusOr<Policy> again = Policy::FromText(policy.ToText());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->ToText(), policy.ToText());
  EXPECT_EQ(*again, policy);
  EXPECT_EQ(again->paths(), policy.paths());
  EXPECT_EQ(again->limits(), policy.limits());
  EXPECT_EQ(again->domains(), policy.domains());
  EXPECT_TRUE(again->report_files());
}

TEST(ReportFiles, IsOffUnlessItIsAskedForAndMakesAnotherPolicy) {
  for (const Policy::Builder& builder :
       {Policy::Builder(), Policy::Agent("/w"), Policy::Build("/w"), Policy::Strict()}) {
    const Policy policy = Built(builder);
    EXPECT_FALSE(policy.report_files());
    EXPECT_THAT(policy.ToText(), Not(HasSubstr("report_files")));
    const Policy reports = Built(Policy::Builder(policy).ReportFiles());
    EXPECT_TRUE(reports.report_files());
    EXPECT_NE(reports.hash(), policy.hash());
  }
  EXPECT_TRUE(Policy::FromText(R"({"report_files": true})")->report_files());
  EXPECT_FALSE(Policy::FromText(R"({"report_files": false})")->report_files());
  EXPECT_THAT(Policy::FromText(R"({"report_files": 1})"), Refuses("'report_files'"));
}

TEST(Text, DangerousThingsTakeATokenThereToo) {
  for (const char* text :
       {R"({"network": "host"})", R"({"dangerous": ["seccomp_off"]})",
        R"({"dangerous": ["docker_socket"]})", R"({"dangerous": ["host_pid_namespace"]})",
        R"({"dangerous": ["inherited_environment"]})",
        R"({"dangerous": ["nested_user_namespaces"]})"}) {
    EXPECT_THAT(Policy::FromText(text), StatusIs(absl::StatusCode::kPermissionDenied)) << text;
    EXPECT_THAT(Policy::FromText(text, dangerous::TrustedText()), IsOk()) << text;
  }
}

TEST(Text, BeginsWithAPresetForPeople) {
  const absl::StatusOr<Policy> policy = Policy::FromText(
      R"({"preset": "agent", "workspace": "/w", "limits": {"memory": "2G", "wall": "10m"}})");
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(*policy, Built(Policy::Agent("/w").Memory(int64_t{2} << 30).Wall(absl::Minutes(10))));
}

TEST(Text, UnknownAndWrongFieldsAreNamed) {
  EXPECT_THAT(Policy::FromText(R"({"netwrok": "none"})"), Refuses("'netwrok': it is not known"));
  EXPECT_THAT(Policy::FromText(R"({"limits": {"ram": 1}})"), Refuses("'limits.ram'"));
  EXPECT_THAT(Policy::FromText(R"({"paths": [{"path": "/a", "access": "read-only", "rw": 1}]})"),
              Refuses("'paths.rw'"));
  EXPECT_THAT(Policy::FromText(R"({"paths": [{"path": "/a"}]})"), Refuses("no 'access'"));
  EXPECT_THAT(Policy::FromText(R"({"paths": [{"access": "read-only"}]})"), Refuses("no 'path'"));
  EXPECT_THAT(Policy::FromText(R"({"tier": "auto", "tier": "landlock"})"),
              Refuses("'tier': it is there twice"));
  EXPECT_THAT(Policy::FromText(R"({"version": 2})"), Refuses("version 1"));
  EXPECT_THAT(Policy::FromText(R"({"workspace": "/w"})"), Refuses("'workspace'"));
  EXPECT_THAT(Policy::FromText(R"({"limits": {"memory": "9999999999T"}})"), Refuses("'memory'"));
  EXPECT_THAT(Policy::FromText(R"({"limits": {"memory": 1e3}})"), Refuses("'memory'"));
  EXPECT_THAT(Policy::FromText(R"({"limits": {"wall": "inf"}})"), Refuses("'wall'"));
  EXPECT_THAT(Policy::FromText("{"), Refuses("not JSON"));
  EXPECT_THAT(Policy::FromText("[]"), Refuses("not a JSON object"));
  EXPECT_THAT(Policy::FromText(std::string(100000, '[')), Refuses("nested"));
  EXPECT_THAT(Policy::FromText(R"({"paths": [{"path": "/a\u0000b", "access": "hidden"}]})"),
              Refuses("NUL"));
}

}  // namespace
}  // namespace berth
