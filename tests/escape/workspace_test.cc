// Rows 4, 18, 22 and 25 of the list of escapes: hostile workspaces, what is read-only in them, and
// files outside.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/client.h"
#include "tests/escape/escape_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class WorkspaceTest : public EscapeTest {
 protected:
  // Whether it started at all; what it did is up to the test.
  bool Starts(const launcher::SandboxPlan& plan, const std::vector<std::string>& argv) {
    const auto spawned = Start(plan, argv, work_, -1, -1);
    if (spawned.ok()) AwaitGone(*spawned);
    return spawned.ok();
  }
};

// --- 4: symlinks where the kernel's own are expected ---

TEST_P(WorkspaceTest, CVE_2025_31133_SymlinksInAWorkspaceLeadNoMountOutside) {
  // CVE-2023-27561, CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, CVE-2026-41579, CVE-2026-47766:
  // runtimes that mounted on, masked or wrote to what these had become.
  fs::create_directory(outside_ + "/target");
  Write("../outside/target/file", "untouched");
  for (const char* name : {"dev", "proc", "sys", "tmp", "run", "usr", "etc", ".git", ".claude"}) {
    fs::create_symlink(outside_ + "/target", Path(name));
  }
  for (const char* name : {"null", "console", ".mcp.json", "CLAUDE.md", ".bashrc"}) {
    fs::create_symlink(outside_ + "/target/file", Path(name));
  }
  fs::create_symlink(outside_ + "/made", Path("AGENTS.md"));  // which is not there
  // As the workspace, and as places where something else is to be seen.
  Starts(Agent(), {"/bin/true"});
  if (!landlock()) {
    for (const char* name : {"dev/pts", "proc/self", "sys/x", "tmp/x", "null"}) {
      Starts(Compiled(Preset().BindTo("/usr", Path(name), Policy::Access::kReadOnly)),
             {"/bin/true"});
      Starts(Compiled(Preset().Tmpfs(Path(name))), {"/bin/touch", Path(absl::StrCat(name, "/x"))});
    }
  }
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(outside_)) ++left;
  Held(4,
       "/dev, /dev/null, /dev/console, /proc, /sys and carve-outs as symlinks in a workspace "
       "(CVE-2023-27561, CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, CVE-2026-41579, "
       "CVE-2026-47766)",
       left == 2 && Read("../outside/target/file") == "untouched");
}

// --- 18: nodes and traps ---

const Actor kTraps("traps", [](const std::vector<std::string>& args) {
  Say("block device", mknod("block", S_IFBLK | 0600, makedev(8, 0)));
  Say("character device", mknod("null", S_IFCHR | 0600, makedev(1, 3)));
  Say("whiteout", mknod("whiteout", S_IFCHR | 0600, 0));
  Say("hard link to outside", link(args[0].c_str(), "hard"));
  // These are its own affair.
  mkfifo("fifo", 0600);
  mknod("socket", S_IFSOCK | 0600, 0);
  for (const char* name : {"flake.nix", "Makefile", "log", "core", "result"}) {
    if (symlink(args[0].c_str(), name) != 0) return 1;
  }
  if (symlink("loop", "loop") != 0 || symlink(".", "self") != 0) return 1;
  mkdir("closed", 0);
  printf("left\n");
  return 0;
});

TEST_P(WorkspaceTest, NodesAreRefusedAndTrapsHoldNobodyUp) {
  Write("../outside/secret", "s");
  const Outcome outcome = Try({"traps", outside_ + "/secret"});
  EXPECT_THAT(outcome.out, HasSubstr("left\n"));
  bool devices = false;
  for (const auto& entry : fs::directory_iterator(work_)) {
    struct stat st;
    ASSERT_EQ(lstat(entry.path().c_str(), &st), 0);
    devices = devices || S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode);
  }
  // Who comes next: a start in that workspace, with traps where its carve-outs would be.
  ASSERT_EQ(mkfifo(Path(".mcp.json").c_str(), 0600), 0);
  ASSERT_EQ(mknod(Path(".envrc").c_str(), S_IFSOCK | 0600, 0), 0);
  fs::create_symlink(outside_ + "/secret", Path("CLAUDE.md"));
  EXPECT_TRUE(Starts(Agent(), {"/bin/true"}));
  Held(18,
       "mknod; fifos, sockets, links left in the workspace to hold up or mislead who collects it",
       !devices && !AnyDone(outcome) && Read("../outside/secret") == "s");
  fs::permissions(Path("closed"), fs::perms::owner_all);
}

// --- 22: carve-outs ---

constexpr char kWrites[] =
    "for p in .git/hooks/pre-commit .git/config .git/config.worktree .bashrc .profile .zshrc "
    ".envrc "
    "CLAUDE.md AGENTS.md .mcp.json .claude/settings.json .codex/config.toml .gemini/settings.json "
    ".cursor/mcp.json .vscode/tasks.json; do mkdir -p $(dirname $p); echo evil > $p; rm -rf $p; "
    "echo evil > $p; "
    "ln -sf /tmp $p; mv -f other $p; done; "
    // By another name of the same.
    "ln -s .git/hooks h; echo evil > h/pre-push; ln .git/config c; echo evil > c; "
    // The folder around it, away and made anew.
    "mv .git .g && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; "
    "mv .claude .c && mkdir .claude && echo evil > .claude/settings.json; "
    "cp -r .git .x; rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; "
    "chmod -R 777 .git; touch .git/hooks/post-checkout; echo ended";

TEST_P(WorkspaceTest, WhatOthersRunOrObeyCannotBeWritten) {
  fs::create_directories(Path(".git/hooks"));
  Write(".git/config", "mine");
  Write(".git/hooks/pre-commit", "mine");
  Write("AGENTS.md", "mine");
  Write("other", "evil");
  const Outcome outcome = TryLine(kWrites);
  EXPECT_THAT(outcome.out, HasSubstr("ended"));
  bool evil = false;
  for (const char* path :
       {".git/hooks/pre-commit", ".git/config", ".git/config.worktree", "AGENTS.md", ".bashrc",
        ".profile", ".zshrc", ".envrc", "CLAUDE.md", ".mcp.json", ".claude/settings.json",
        ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".vscode/tasks.json",
        ".git/hooks/pre-push", ".git/hooks/post-checkout"}) {
    struct stat st;
    const bool there = lstat(Path(path).c_str(), &st) == 0;
    const std::string name = path;
    const bool was =
        name == ".git/hooks/pre-commit" || name == ".git/config" || name == "AGENTS.md";
    evil = evil || (was ? Read(name) != "mine" : there);
  }
  Held(22,
       "write .git/hooks, .git/config, shell start-up files, configuration of agents, MCP and "
       "editors, and ones that do not exist yet; by links and by renaming what they are in",
       !evil,
       "Landlock only adds up what is allowed: nothing in a writable folder can be kept read-only");
}

TEST_P(WorkspaceTest, TheConfigOfAWorktreeThatGitObeysCannotBeWritten) {
  if (landlock()) return;  // told above
  fs::create_directories(Path(".git/hooks"));
  Write(".git/config", "[extensions]\n\tworktreeConfig = true\n");
  Write(".git/config.worktree", "mine");
  const Outcome outcome = TryLine(
      "echo evil > .git/config.worktree; rm -f .git/config.worktree; echo evil > .git/x; "
      "mv -f .git/x .git/config.worktree; ln .git/config.worktree c; echo evil > c; echo ended");
  EXPECT_THAT(outcome.out, HasSubstr("ended"));
  EXPECT_EQ(Read(".git/config.worktree"), "mine") << outcome.err;
}

TEST_P(WorkspaceTest, SymlinksThatOthersObeyStayWhatTheyAreAndSoDoesWhatTheyLeadTo) {
  if (landlock()) return;  // told above
  Write("rules.md", "mine");
  fs::create_symlink("rules.md", Path("CLAUDE.md"));
  fs::create_symlink("not-there.md", Path("AGENTS.md"));
  fs::create_directories(Path("repository/hooks"));
  fs::create_symlink("repository", Path(".git"));
  const Outcome outcome = TryLine(
      "for p in CLAUDE.md AGENTS.md rules.md not-there.md .git/hooks/pre-commit .git/config; do "
      "echo evil > $p; rm -f $p; echo evil > x; mv -f x $p; ln -sf x $p; done; "
      "rm -f .git; mv .git g; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; "
      "mv repository r; echo ended");
  EXPECT_THAT(outcome.out, HasSubstr("ended"));
  EXPECT_EQ(fs::read_symlink(Path("CLAUDE.md")), "rules.md");
  EXPECT_EQ(fs::read_symlink(Path("AGENTS.md")), "not-there.md");
  EXPECT_EQ(fs::read_symlink(Path(".git")), "repository");
  EXPECT_EQ(Read("rules.md"), "mine");
  for (const char* name :
       {"not-there.md", "repository/hooks/pre-commit", "repository/config", "r"}) {
    EXPECT_FALSE(fs::exists(fs::symlink_status(Path(name)))) << name;
  }
}

TEST_P(WorkspaceTest, SymlinksThatLeadThroughOthersLeadWhereTheyDid) {
  if (landlock()) return;  // told above
  fs::create_directories(Path("docs/real"));
  Write("docs/real/rules.md", "mine");
  fs::create_symlink("one", Path("CLAUDE.md"));
  fs::create_symlink("two/rules.md", Path("one"));
  fs::create_symlink(Path("docs/real"), Path("two"));
  fs::create_symlink("docs/none/deep.md", Path("AGENTS.md"));
  fs::create_symlink("gone/../evil.md", Path("GEMINI.md"));
  Write("evil.md", "evil");
  const Outcome outcome = TryLine(
      "mkdir -p evil; echo evil > evil/rules.md; "
      "for p in one two docs docs/real docs/none gone; do "
      "rm -rf $p; mv $p away; ln -sfn evil $p; ln -sfn evil.md $p; done; "
      "mkdir -p docs/none gone; echo evil > docs/none/deep.md; echo evil > docs/real/rules.md; "
      "mv -f evil/rules.md docs/real/rules.md; mv -T evil docs/none; mv -T evil gone; echo ended");
  EXPECT_THAT(outcome.out, HasSubstr("ended"));
  EXPECT_EQ(Read("CLAUDE.md"), "mine") << outcome.err;
  for (const char* name : {"AGENTS.md", "GEMINI.md"}) {
    EXPECT_FALSE(fs::exists(Path(name))) << name;
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(Path("gone"))));
}

TEST_P(WorkspaceTest, FoldersThatHoldCarveOutsCannotBeExchanged) {
  if (landlock()) return;  // told above
  fs::create_directories(Path(".git/hooks"));
  Write(".git/config", "mine");
  fs::create_directories(Path("evil/hooks"));
  Write("evil/config", "evil");
  Try({"exchange", Path("evil"), Path(".git")});
  EXPECT_EQ(Read(".git/config"), "mine");
}

const Actor kExchange("exchange", [](const std::vector<std::string>& args) {
  for (const unsigned flags : {1u, 2u, 0u}) {
    Say("rename",
        syscall(SYS_renameat2, AT_FDCWD, args[0].c_str(), AT_FDCWD, args[1].c_str(), flags));
    Say("rename back",
        syscall(SYS_renameat2, AT_FDCWD, args[1].c_str(), AT_FDCWD, args[0].c_str(), flags));
  }
  return 0;
});

// --- What a workspace holds already, and docs/threat_model.md says is not stopped ---

const Actor kConnect("connect", [](const std::vector<std::string>& args) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  args[0].copy(address.sun_path, sizeof(address.sun_path) - 1);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Say("connect", connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  return 0;
});

TEST_P(WorkspaceTest, ASocketThatTheHostHasPutThereAnswersButInLandlock) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = Path("socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  const UniqueFd listens(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listens.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listens.get(), 1), 0);
  EXPECT_EQ(AnyDone(Try({"connect", "socket"})), !landlock());
}

const Actor kMapping("mapping", [](const std::vector<std::string>& args) {
  const UniqueFd fd(open(args[0].c_str(), O_RDWR | O_CLOEXEC));
  void* const map = mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return 1;
  memcpy(map, "evil", 4);
  return 0;
});

TEST_P(WorkspaceTest, ASetUserIdFileThatWasThereCanBeRewrittenThroughAMapping) {
  Write("tool", "mine");
  ASSERT_EQ(chmod(Path("tool").c_str(), 04755), 0);
  Try({"mapping", "tool"});
  struct stat st;
  ASSERT_EQ(stat(Path("tool").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 04755u);
  EXPECT_EQ(Read("tool"), "evil");
}

// --- 25: files outside, and where Landlock has gaps ---

const Actor kOutside("outside", [](const std::vector<std::string>& args) {
  const std::string& file = args[0];
  const std::string inside = "inside";
  Say("open", open(file.c_str(), O_RDONLY | O_CLOEXEC));
  Say("write", open(file.c_str(), O_WRONLY | O_CLOEXEC));
  Say("truncating open", open(file.c_str(), O_RDONLY | O_TRUNC | O_CLOEXEC));
  Say("truncate", truncate(file.c_str(), 0));
  Say("make", open((file + ".made").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  Say("make folder", mkdir((file + ".d").c_str(), 0700));
  Say("make link", symlink("x", (file + ".l").c_str()));
  Say("rename out", rename(file.c_str(), inside.c_str()));
  Say("rename in", rename("own", (file + ".own").c_str()));
  Say("exchange", syscall(SYS_renameat2, AT_FDCWD, "own", AT_FDCWD, file.c_str(), 2));
  Say("link", link(file.c_str(), inside.c_str()));
  Say("unlink", unlink(file.c_str()));
  Say("execute", execl(file.c_str(), file.c_str(), nullptr));
  for (const char* device :
       {"/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/net/tun", "/dev/kvm",
        "/dev/loop-control", "/dev/uinput", "/dev/console", "/dev/vsock"}) {
    Say(device, open(device, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  }
  return 0;
});

TEST_P(WorkspaceTest, FilesOutsideStayAsTheyAre) {
  Write("../outside/secret", "s3cr3t");
  fs::permissions(outside_ + "/secret", fs::perms::owner_all);
  Write("own", "own");
  const Outcome outcome = Try({"outside", outside_ + "/secret"});
  EXPECT_THAT(outcome.out, HasSubstr("/dev/vsock: "));
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(outside_)) ++left;
  Held(25, "open, truncate, make, move, link, remove or execute files outside; devices",
       !AnyDone(outcome) && left == 1 && Read("../outside/secret") == "s3cr3t" &&
           !fs::exists(Path("inside")));
}

const Actor kAttributes("attributes", [](const std::vector<std::string>& args) {
  const char* file = args[0].c_str();
  Say("chmod", chmod(file, 0777));
  const timespec times[2] = {{1, 0}, {1, 0}};
  Say("times", utimensat(AT_FDCWD, file, times, 0));
  Say("attribute", setxattr(file, "user.berth", "x", 1, 0));
  return 0;
});

TEST_P(WorkspaceTest, AttributesOfFilesOutsideStayAsTheyAre) {
  Write("../outside/secret", "s");
  ASSERT_EQ(chmod((outside_ + "/secret").c_str(), 0600), 0);
  Try({"attributes", outside_ + "/secret"});
  struct stat st;
  ASSERT_EQ(stat((outside_ + "/secret").c_str(), &st), 0);
  char value;
  const bool marked = getxattr((outside_ + "/secret").c_str(), "user.berth", &value, 1) == 1;
  Held(25, "change mode, times or attributes of files outside",
       (st.st_mode & 0777) == 0600 && st.st_mtim.tv_sec != 1 && !marked,
       "Landlock does not guard them: of files that the user owns they can be changed");
}

TEST_P(WorkspaceTest, NamesOfFilesOutsideAreNotSeen) {
  Write("../outside/secret", "s");
  const Outcome outcome =
      TryLine(absl::StrCat("test -e ", outside_, "/secret && echo 'seen: done'"));
  Held(25, "find out whether a file outside exists, its size and times", !AnyDone(outcome),
       "Landlock does not guard them: names can be tried, folders cannot be listed");
}

const Actor kReopen("reopen", [](const std::vector<std::string>&) {
  for (const char* path : {"/proc/self/fd/0", "/dev/stdin", "/dev/fd/0"}) {
    const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
    Say(path, fd.ok() ? write(fd.get(), "evil", 4) : -1);
  }
  Say("up", open("/proc/self/fd/0/..", O_RDONLY | O_CLOEXEC));
  return 0;
});

TEST_P(WorkspaceTest, AFileThatWasGivenToReadIsNotWritten) {
  Write("../outside/input", "mine");
  const UniqueFd input(open((outside_ + "/input").c_str(), O_RDONLY | O_CLOEXEC));
  launcher::SpawnRequest request;
  request.argv = ActorCommand({"reopen"});
  request.env = {"PATH=/usr/bin:/bin"};
  request.cwd = work_;
  request.stdio[0] = input.get();
  request.plan = Agent().Encode();
  const auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  AwaitGone(*spawned);
  Saw(25, "write to a file that was given open for reading, as standard input",
      Read("../outside/input") == "mine",
      landlock() ? ""
                 : "`/proc/self/fd` opens it again with the caller's rights; give a pipe instead");
}

TEST_P(WorkspaceTest, AFolderIsNoStream) {
  const UniqueFd folder(open(outside_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  launcher::SpawnRequest request;
  request.argv = {"/bin/true"};
  request.env = {"PATH=/usr/bin:/bin"};
  request.cwd = work_;
  request.stdio[0] = folder.get();
  request.plan = Agent().Encode();
  const auto spawned = client_->Spawn(request);
  if (spawned.ok()) AwaitGone(*spawned);
  Held(3, "walk .. from a folder that was given as a stream", !spawned.ok());
}

INSTANTIATE_TEST_SUITE_P(Tiers, WorkspaceTest, AllTiers(), TierOf);

}  // namespace
}  // namespace berth
