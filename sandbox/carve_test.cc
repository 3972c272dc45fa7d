// Which places a policy's carve-outs hold: carve.h, by way of compile.h.

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/compile.h"
#include "sandbox/compile_test.h"
#include "sandbox/launcher/placeholder_link.h"
#include "sandbox/launcher/sandbox_plan.h"
#include "sandbox/policy.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using launcher::SandboxMount;
using launcher::SandboxPlan;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = launcher::SandboxMount::Kind;
using CarveTest = CompileTest;

TEST_F(CarveTest, CarvesWhatIsNotThereYetUnlessItIsOptional) {
  const SandboxPlan plan = Plan(Policy::Agent(ws_));
  EXPECT_GE(IndexOf(plan, Kind::kCarve, ws_ + "/.mcp.json"), 0);
  EXPECT_GE(IndexOf(plan, Kind::kCarve, ws_ + "/.bashrc"), 0);
  EXPECT_EQ(Find(plan, ws_ + "/.idea"), nullptr);
  fs::create_directories(ws_ + "/.idea");
  EXPECT_GE(IndexOf(Plan(Policy::Agent(ws_)), Kind::kCarve, ws_ + "/.idea"), 0);
}

TEST_F(CarveTest, AGitFileOfAWorktreeIsCarvedItself) {
  fs::remove_all(ws_ + "/.git");
  std::ofstream(ws_ + "/.git") << "gitdir: /elsewhere\n";
  const SandboxPlan plan = Plan(Policy::Agent(ws_));
  EXPECT_GE(IndexOf(plan, Kind::kCarve, ws_ + "/.git"), 0);
  EXPECT_EQ(Find(plan, ws_ + "/.git/hooks"), nullptr);
}

TEST_F(CarveTest, ACarvedSymlinkIsHeldAndSoIsAllThatItLeadsThrough) {
  std::ofstream(ws_ + "/real.md") << "x";
  fs::create_symlink("real.md", ws_ + "/CLAUDE.md");
  fs::create_symlink("/etc/passwd", ws_ + "/.mcp.json");
  fs::create_symlink("nowhere", ws_ + "/.envrc");
  fs::create_symlink("second", ws_ + "/.profile");
  fs::create_symlink(ws_ + "/./third", ws_ + "/second");
  fs::create_symlink("loop", ws_ + "/loop");
  fs::create_symlink("loop", ws_ + "/.zshrc");
  fs::create_directories(ws_ + "/docs/real");
  fs::create_symlink("docs/link/../none/deep/agents.md", ws_ + "/AGENTS.md");
  fs::create_symlink("real", ws_ + "/docs/link");
  fs::create_symlink("gone/../real.md", ws_ + "/.zshenv");
  fs::create_symlink(".", ws_ + "/.cursor");
  fs::remove_all(ws_ + "/.git");
  fs::create_symlink("repository", ws_ + "/.git");
  const absl::StatusOr<CompiledPolicy> compiled = TryCompile(Policy::Agent(ws_));
  ASSERT_THAT(compiled, IsOk());
  for (const char* end : {"/real.md", "/nowhere", "/third", "/repository/hooks",
                          "/docs/none/deep/agents.md", "/gone"}) {
    EXPECT_GE(IndexOf(compiled->plan, Kind::kCarve, ws_ + end), 0) << end;
  }
  const std::pair<const char*, std::string> links[] = {
      {"/CLAUDE.md", "real.md"},
      {"/.mcp.json", "/etc/passwd"},
      {"/.envrc", "nowhere"},
      {"/.profile", "second"},
      {"/second", ws_ + "/./third"},
      {"/.zshrc", "loop"},
      {"/loop", "loop"},
      {"/.git", "repository"},
      {"/AGENTS.md", "docs/link/../none/deep/agents.md"},
      {"/docs/link", "real"},
      {"/.zshenv", "gone/../real.md"},
      {"/.cursor", "."}};
  for (const auto& [link, text] : links) {
    const SandboxMount* mount = Find(compiled->plan, ws_ + link);
    ASSERT_NE(mount, nullptr) << link;
    EXPECT_EQ(mount->kind, Kind::kCarve);
    EXPECT_EQ(mount->source, text);
  }
  EXPECT_EQ(IndexOf(compiled->plan, Kind::kCarve, "/etc/passwd"), -1);
  // One that leads to the workspace does not make it read-only.
  EXPECT_EQ(IndexOf(compiled->plan, Kind::kCarve, ws_), -1);
}

TEST_F(CarveTest, GitIsToldToLeavePlaceholdersAlone) {
  std::ofstream(ws_ + "/CLAUDE.md") << "mine";
  const absl::StatusOr<CompiledPolicy> compiled =
      TryCompile(Policy::Agent(ws_).Carve(ws_ + "/a b[*]").Carve(ws_ + "/sub/none"));
  ASSERT_THAT(compiled, IsOk());
  const SandboxMount* list = Find(compiled->plan, compiled->git_excludes);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->kind, Kind::kText);
  const std::string text = "\n" + list->source;
  for (const char* line : {"\n/.bashrc\n", "\n/.claude\n", "\n/a\\ b\\[\\*\\]\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("CLAUDE.md")));
  EXPECT_THAT(text, Not(HasSubstr(".git")));
  fs::remove_all(ws_ + "/.git");
  EXPECT_EQ(TryCompile(Policy::Agent(ws_))->git_excludes, "");
  EXPECT_EQ(TryCompile(Policy::Strict())->git_excludes, "");
}

TEST(GitExcludes, ComeBesideWhatGitIsToldAlready) {
  std::vector<std::string> env = {"A=b"};
  SetGitExcludes("/x", &env);
  EXPECT_THAT(env, ElementsAre("A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile",
                               "GIT_CONFIG_VALUE_0=/x"));
  SetGitExcludes("/y", &env);
  EXPECT_THAT(env, Contains("GIT_CONFIG_COUNT=2"));
  EXPECT_THAT(env, Not(Contains("GIT_CONFIG_COUNT=1")));
  EXPECT_THAT(env, Contains("GIT_CONFIG_VALUE_1=/y"));
  env = {"GIT_CONFIG_COUNT=many"};
  SetGitExcludes("/x", &env);
  EXPECT_THAT(env, ElementsAre("GIT_CONFIG_COUNT=many"));
  env = {"GIT_CONFIG_COUNT=2147483647"};
  SetGitExcludes("/x", &env);
  EXPECT_THAT(env, ElementsAre("GIT_CONFIG_COUNT=2147483647"));
  // Which do not count.
  env = {"GIT_CONFIG_KEY_0=core.pager", "GIT_CONFIG_VALUE_0=less"};
  SetGitExcludes("/x", &env);
  EXPECT_THAT(env, ElementsAre("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile",
                               "GIT_CONFIG_VALUE_0=/x"));
}

TEST_F(CarveTest, AWorkspaceThatIsAFileIsRefusedByName) {
  std::ofstream(ws_ + "/file") << "x";
  EXPECT_THAT(TryCompile(Policy::Agent(ws_ + "/file")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/file is no folder")));
}

TEST_F(CarveTest, APlaceholderOfAnotherSandboxIsNothing) {
  fs::remove_all(ws_ + "/.git");
  for (const char* name : {"/.git", "/.envrc", "/.husky"}) {
    fs::create_symlink(launcher::kPlaceholderText, ws_ + name);
  }
  const SandboxPlan plan = Plan(Policy::Agent(ws_));
  for (const char* name : {"/.git/hooks", "/.envrc"}) {
    const SandboxMount* mount = Find(plan, ws_ + name);
    ASSERT_NE(mount, nullptr) << name;
    EXPECT_EQ(mount->source, "");
  }
  EXPECT_EQ(Find(plan, ws_ + "/.husky"), nullptr);
}

}  // namespace
}  // namespace berth
