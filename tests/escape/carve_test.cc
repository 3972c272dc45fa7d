// Rows 4, 5 and 22 of the list of escapes: read-only carve-outs in a writable workspace, and places
// that a hostile workspace swaps for symlinks. Tier: namespaces.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/placeholder_link.h"
#include "tests/escape/enclosed_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using Kind = launcher::SandboxMount::Kind;
namespace fs = std::filesystem;

class CarveTest : public EnclosedTest {
 protected:
  launcher::SandboxPlan Carved(std::initializer_list<const char*> names) const {
    launcher::SandboxPlan plan = Plan();
    for (const char* name : names) {
      plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(name)});
    }
    return plan;
  }
  bool Placed(const char* name) const {
    return launcher::IsPlaceholderLink(AT_FDCWD, Path(name).c_str());
  }
  void MakeRepository() const {
    fs::create_directories(Path(".git/hooks"));
    Write(".git/config", "mine\n");
    Write(".git/hooks/pre-commit", "mine\n");
  }
};

TEST_F(CarveTest, WhatIsCarvedOutCannotBeWrittenRemovedOrReplaced) {
  MakeRepository();
  const Outcome outcome = Shell(
      Carved({".git/hooks", ".git/config"}),
      "echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/new; echo evil > .git/config; "
      "rm -rf .git/hooks; rm -f .git/config; mv .git/config x; ln -sf /tmp .git/config; "
      "chmod 777 .git/config; echo ok > .git/index");
  EXPECT_EQ(Read(".git/config"), "mine\n") << outcome.err;
  EXPECT_EQ(Read(".git/hooks/pre-commit"), "mine\n");
  EXPECT_FALSE(fs::exists(Path(".git/hooks/new")));
  EXPECT_EQ(Read(".git/index"), "ok\n");  // the rest is writable
}

// git obeys it as it does .git/config once extensions.worktreeConfig is on.
TEST_F(CarveTest, TheConfigOfAWorktreeCannotBeWrittenRemovedOrReplaced) {
  MakeRepository();
  const launcher::SandboxPlan plan = Carved({".git/hooks", ".git/config", ".git/config.worktree"});
  const char* const evil =
      "echo evil > .git/config.worktree; rm -f .git/config.worktree; mv .git/config.worktree x; "
      "ln -sf /tmp .git/config.worktree; echo evil > .git/y; mv -f .git/y .git/config.worktree; "
      "echo ok > .git/index";
  const Outcome absent = Shell(plan, evil);
  EXPECT_THAT(absent.err, HasSubstr("Read-only"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(Path(".git/config.worktree"))));
  Write(".git/config.worktree", "mine\n");
  const Outcome there = Shell(plan, evil);
  EXPECT_EQ(Read(".git/config.worktree"), "mine\n") << there.err;
  EXPECT_EQ(Read(".git/index"), "ok\n");  // the rest is writable
}

TEST_F(CarveTest, TheFolderAroundItCannotBeRenamedAway) {
  MakeRepository();
  const Outcome outcome =
      Shell(Carved({".git/hooks"}),
            "mv .git .x; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; rm -rf .git");
  EXPECT_THAT(outcome.err, HasSubstr("busy"));
  EXPECT_EQ(Read(".git/hooks/pre-commit"), "mine\n");
  EXPECT_FALSE(fs::exists(Path(".x")));
}

TEST_F(CarveTest, AFileInThePlaceOfItsFolderStaysThatFile) {
  Write(".git", "gitdir: elsewhere\n");  // as in a worktree
  Shell(Carved({".git/hooks", ".git/config"}),
        "rm -f .git; mv .git x; mkdir -p .git/hooks; echo evil > .git; true");
  EXPECT_EQ(Read(".git"), "gitdir: elsewhere\n");
}

TEST_F(CarveTest, WhatDoesNotExistYetCannotBeMadeAndLeavesNoTrace) {
  const Outcome outcome = Shell(
      Carved({".mcp.json", ".agent/settings.json", ".git/hooks"}),
      "echo evil > .mcp.json; mkdir -p .agent && echo evil > .agent/settings.json; "
      "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; rm -rf .mcp.json .agent .git; "
      "mv .mcp.json x; mv .agent y; ln -s /tmp .mcp.json; echo ok > made");
  EXPECT_THAT(outcome.err, HasSubstr("Read-only"));
  EXPECT_EQ(Read("made"), "ok\n");
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(work_)) ++left;
  EXPECT_EQ(left, 1u) << "more than what it was allowed to make";
}

TEST_F(CarveTest, AFileThatTheUserMadeStaysThoughItIsEmpty) {
  Write(".mcp.json", "");
  Shell(Carved({".mcp.json"}), "true");
  EXPECT_TRUE(fs::exists(Path(".mcp.json")));
}

TEST_F(CarveTest, TheFirstToEndLeavesThePlaceholderToTheOther) {
  const launcher::SandboxPlan plan = Carved({".mcp.json"});
  ASSERT_EQ(mkfifo(Path("go").c_str(), 0600), 0);
  absl::StatusOr<launcher::Spawned> stays =
      Start(plan, {"/bin/sh", "-c", "read line < go"}, work_, -1, -1);
  ASSERT_THAT(stays, IsOk());
  Shell(plan, "true");
  EXPECT_TRUE(Placed(".mcp.json")) << "the other is still there";
  ASSERT_THAT(client_->Stop(stays->pid, 0), IsOk());
  AwaitGone(*stays);
  EXPECT_FALSE(Placed(".mcp.json"));
}

TEST_F(CarveTest, TwoThatShareAFolderWhichIsNotThereLeaveNothing) {
  const launcher::SandboxPlan plan = Carved({".git/hooks", ".git/config"});
  ASSERT_EQ(mkfifo(Path("go").c_str(), 0600), 0);
  absl::StatusOr<launcher::Spawned> first =
      Start(plan, {"/bin/sh", "-c", "read line < go"}, work_, -1, -1);
  ASSERT_THAT(first, IsOk());
  absl::StatusOr<launcher::Spawned> second =
      Start(plan, {"/bin/sh", "-c", "read line < go"}, work_, -1, -1);
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(Placed(".git"));
  ASSERT_THAT(client_->Stop(first->pid, 0), IsOk());
  AwaitGone(*first);
  EXPECT_TRUE(Placed(".git")) << "the other is still there";
  EXPECT_NE(Shell(plan, "mkdir -p .git/hooks").exit.code, 0);
  ASSERT_THAT(client_->Stop(second->pid, 0), IsOk());
  AwaitGone(*second);
  EXPECT_FALSE(Placed(".git"));
}

TEST_F(CarveTest, OneThatWasLeftByAKilledHelperIsTakenOver) {
  for (const char* name : {".mcp.json", ".git", ".profile"}) {
    fs::create_symlink(launcher::kPlaceholderText, Path(name));
  }
  EXPECT_THAT(Shell(Carved({".mcp.json", ".git/hooks"}), "echo evil > .mcp.json").err,
              HasSubstr("Read-only"));
  EXPECT_TRUE(fs::is_empty(work_));
}

TEST_F(CarveTest, WhatDoesNotExistReadsAsNothing) {
  const Outcome outcome =
      Shell(Carved({".mcp.json", ".git/hooks"}),
            "cat .mcp.json; test -e .mcp.json && echo there; test -e .git && echo there");
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(".mcp.json: No such file"));
}

// They were names of one file once: who could write to one of them wrote to all, and it stayed.
TEST_F(CarveTest, ASandboxThatLacksACarveOutCannotWriteToAnothersByIt) {
  ASSERT_EQ(mkfifo(Path("go").c_str(), 0600), 0);
  absl::StatusOr<launcher::Spawned> holds =
      Start(Carved({".envrc", ".profile"}), {"/bin/sh", "-c", "read line < go"}, work_, -1, -1);
  ASSERT_THAT(holds, IsOk());
  Shell(Carved({".envrc"}),
        "chmod 777 .profile; echo evil > .profile; ln .profile x; echo evil > x; cat < x > y");
  EXPECT_EQ(fs::read_symlink(Path(".envrc")), launcher::kPlaceholderText);
  ASSERT_THAT(client_->Stop(holds->pid, 0), IsOk());
  AwaitGone(*holds);
  for (const char* name : {".envrc", ".profile"}) EXPECT_FALSE(Placed(name)) << name;
}

TEST_F(CarveTest, AFolderThatIsLockedHoldsUpNobodyAndCanBeLockedInside) {
  const UniqueFd users(open(work_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(users.get(), LOCK_EX), 0);
  EXPECT_EQ(Shell(Carved({".mcp.json"}), "exit 3").exit.code, 3);
  ASSERT_EQ(flock(users.get(), LOCK_UN), 0);
  EXPECT_EQ(Shell(Carved({".mcp.json"}), "flock -n . echo locked").out, "locked\n");
  EXPECT_TRUE(fs::is_empty(work_));
}

TEST_F(CarveTest, ASymlinkStaysWhatItIs) {
  Write("AGENTS.md", "mine\n");
  fs::create_symlink("AGENTS.md", Path("CLAUDE.md"));
  launcher::SandboxPlan plan = Carved({"AGENTS.md"});
  plan.mounts.push_back({.kind = Kind::kCarve, .source = "AGENTS.md", .target = Path("CLAUDE.md")});
  const Outcome outcome =
      Shell(plan,
            "cat CLAUDE.md; echo evil > x; rm -f CLAUDE.md; mv -f x CLAUDE.md; ln -sf x CLAUDE.md; "
            "mv CLAUDE.md y; echo evil > CLAUDE.md");
  EXPECT_EQ(outcome.out, "mine\n");
  EXPECT_EQ(fs::read_symlink(Path("CLAUDE.md")), "AGENTS.md");
  EXPECT_EQ(Read("AGENTS.md"), "mine\n");
  // Another since the plan was made: nobody holds what that leads to.
  fs::remove(Path("CLAUDE.md"));
  fs::create_symlink("x", Path("CLAUDE.md"));
  EXPECT_THAT(Start(plan, {"/bin/true"}, work_, -1, -1),
              StatusIs(testing::_, HasSubstr("CLAUDE.md")));
}

TEST_F(CarveTest, ASymlinkInThePlaceOfACarveOutIsNotFollowed) {
  fs::create_symlink(outside_, Path(".git"));
  EXPECT_THAT(Start(Carved({".git/hooks"}), {"/bin/true"}, work_, -1, -1),
              StatusIs(testing::_, HasSubstr(".git/hooks")));
  fs::create_symlink(outside_ + "/target", Path(".mcp.json"));
  EXPECT_FALSE(Start(Carved({".mcp.json"}), {"/bin/true"}, work_, -1, -1).ok());
  EXPECT_TRUE(fs::is_empty(outside_));
}

// This and the next: what docs/threat_model.md says that a carve-out does not hold.
TEST_F(CarveTest, WhatTheHostReplacesMeanwhileIsHeldNoMore) {
  MakeRepository();
  Write("AGENTS.md", "mine\n");
  ASSERT_EQ(mkfifo(Path("go").c_str(), 0600), 0);
  const UniqueFd go(open(Path("go").c_str(), O_RDWR | O_CLOEXEC));
  absl::StatusOr<launcher::Spawned> spawned =
      Start(Carved({".git/config", ".git/hooks", "AGENTS.md"}),
            {"/bin/sh", "-c",
             "echo evil > .git/config; echo evil > AGENTS.md; read line < go; "
             "echo replaced > .git/config; echo made > AGENTS.md; "
             "echo evil > .git/hooks/pre-commit"},
            work_, -1, -1);
  ASSERT_THAT(spawned, IsOk());
  Write(".git/config.lock", "new\n");
  fs::rename(Path(".git/config.lock"), Path(".git/config"));
  fs::remove(Path("AGENTS.md"));
  ASSERT_EQ(write(go.get(), "\n", 1), 1);
  AwaitGone(*spawned);
  EXPECT_EQ(Read(".git/config"), "replaced\n");
  EXPECT_EQ(Read("AGENTS.md"), "made\n");
  EXPECT_EQ(Read(".git/hooks/pre-commit"), "mine\n");
}

TEST_F(CarveTest, AnotherNameOfTheSameFileIsNotHeld) {
  MakeRepository();
  fs::create_hard_link(Path(".git/config"), Path("other"));
  Shell(Carved({".git/config"}), "echo evil > .git/config; echo written > other");
  EXPECT_EQ(Read(".git/config"), "written\n");
}

// CVE-2023-27561, CVE-2025-31133, CVE-2025-52565, CVE-2025-52881: runc mounted through these.
TEST_F(CarveTest, AWorkspaceAsRootWhoseProcAndDevAreSymlinksFailsClosed) {
  for (const char* name : {"proc", "dev", "sys"}) {
    fs::create_symlink(outside_, Path(name));
    launcher::SandboxPlan plan = Plan();
    plan.mounts.push_back(
        {.kind = name == std::string("dev") ? Kind::kDev : Kind::kProc, .target = Path(name)});
    EXPECT_FALSE(Start(plan, {"/bin/true"}, work_, -1, -1).ok()) << name;
    plan.mounts.back() = {.kind = Kind::kTmpfs, .target = Path(absl::StrCat(name, "/null"))};
    EXPECT_FALSE(Start(plan, {"/bin/true"}, work_, -1, -1).ok()) << name;
  }
  EXPECT_TRUE(fs::is_empty(outside_));
}

TEST_F(CarveTest, ASourceBelowTheWorkspaceIsNotFollowedOutOfIt) {
  Write("../outside/secret", "s");
  fs::create_symlink(outside_, Path("data"));
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back(
      {.kind = Kind::kBind, .read_only = true, .source = Path("data"), .target = "/data"});
  EXPECT_THAT(Start(plan, {"/bin/cat", "/data/secret"}, work_, -1, -1),
              StatusIs(testing::_, HasSubstr("data")));
}

// Row 5.
TEST_F(CarveTest, APlaceThatIsSwappedThroughAThousandStartsLetsNothingOut) {
  fs::create_directories(Path("a/b"));
  fs::create_directory(outside_ + "/b");
  fs::create_symlink(outside_, Path("link"));
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      syscall(SYS_renameat2, AT_FDCWD, Path("a").c_str(), AT_FDCWD, Path("link").c_str(),
              2 /* RENAME_EXCHANGE */);
    }
  });
  launcher::SandboxPlan plan = Plan();
  plan.mounts.push_back({.kind = Kind::kCarve, .target = Path("a/b/not-there")});
  plan.mounts.push_back({.kind = Kind::kTmpfs, .target = Path("a/b")});
  int ran = 0;
  for (int i = 0; i < 1000; ++i) {
    absl::StatusOr<launcher::Spawned> spawned =
        Start(plan, {"/bin/sh", "-c", "echo in > a/b/file"}, work_, -1, -1);
    if (!spawned.ok()) continue;
    ++ran;
    AwaitGone(*spawned);
  }
  stop = true;
  swapper.join();
  EXPECT_TRUE(fs::is_empty(outside_ + "/b"));
  printf("%d of 1000 starts ran, the others were refused\n", ran);
}

}  // namespace
}  // namespace berth
