#include "sandbox/launcher/enter/file_view.h"

#include <linux/landlock.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/launcher/sandbox_plan.h"

namespace berth::launcher {
namespace {

using enum FileAccess;
using Kind = SandboxMount::Kind;
using ::testing::IsNull;
using ::testing::StrEq;

constexpr FileAccess kAll[] = {kLook, kRead, kWrite, kCreate, kMake, kReplace, kRemove};
constexpr FileAccess kWrites[] = {kWrite, kCreate, kMake, kReplace, kRemove};

// As a policy of the preset `agent` is compiled.
SandboxPlan Enclosed() {
  SandboxPlan plan;
  plan.tier = SandboxTier::kNamespaces;
  plan.mounts = {{.kind = Kind::kSymlink, .source = "usr/bin", .target = "/bin"},
                 {.kind = Kind::kDev, .target = "/dev"},
                 {.read_only = true, .source = "/etc/passwd", .target = "/etc/passwd"},
                 {.kind = Kind::kTmpfs, .target = "/var/me"},
                 {.kind = Kind::kSymlink, .source = "/w", .target = "/link"},
                 {.kind = Kind::kProc, .target = "/proc"},
                 {.kind = Kind::kTmpfs, .read_only = true, .target = "/srv/secret"},
                 {.source = "/srv/secret/but", .target = "/srv/secret/but"},
                 {.kind = Kind::kTmpfs, .target = "/tmp"},
                 {.read_only = true, .source = "/usr", .target = "/usr"},
                 {.source = "/w", .target = "/w"},
                 {.kind = Kind::kCarve, .target = "/w/.claude"},
                 {.kind = Kind::kCarve, .target = "/w/.git/config"},
                 {.kind = Kind::kCarve, .target = "/w/.git/hooks"},
                 {.kind = Kind::kMask, .read_only = true, .target = "/w/keys"}};
  return plan;
}

SandboxPlan Landlock() {
  constexpr uint64_t kReads =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  SandboxPlan plan;
  plan.tier = SandboxTier::kLandlock;
  plan.landlock = {{.path = "/usr", .access = kReads},
                   {.path = "/var/me/w", .access = 0x1fff},
                   {.path = "/etc/passwd", .access = kReads},
                   {.path = "/proc", .access = kReads},
                   {.path = "/dev/null",
                    .access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE}};
  plan.links = {{.path = "/bin", .text = "usr/bin"}, {.path = "/w", .text = "/var/me/w"}};
  return plan;
}

class Mounts : public testing::Test {
 protected:
  const FileView view_{Enclosed(), false};
};

class Rules : public testing::Test {
 protected:
  const FileView view_{Landlock(), false};
};

TEST_F(Mounts, WhatIsUnderNothingShownIsNotShown) {
  for (const char* path : {"/etc/shadow", "/home/.ssh/id_rsa", "/var/me2", "/var/other/x", "/x/y",
                           "/dev/sda", "/srv/secret/other", "/wx", "/usr2"}) {
    EXPECT_THAT(view_.Judge(path, kRead), StrEq("not shown")) << path;
    EXPECT_THAT(view_.Judge(path, kWrite), StrEq("not shown")) << path;
    EXPECT_THAT(view_.Judge(path, kRemove), StrEq("not shown")) << path;
  }
  EXPECT_THAT(view_.Judge("/home/.ssh/new", kCreate), StrEq("not shown"));
}

TEST_F(Mounts, FoldersOnTheWayToWhatIsShownAreThereAndReadOnly) {
  for (const char* path : {"/", "/etc", "/var", "/dev", "/srv", "/srv/secret"}) {
    EXPECT_THAT(view_.Judge(path, kRead), IsNull()) << path;
    EXPECT_THAT(view_.Judge(path, kLook), IsNull()) << path;
    // mkdir -p: it is there.
    EXPECT_THAT(view_.Judge(path, kMake), IsNull()) << path;
    EXPECT_THAT(view_.Judge(path, kRemove), StrEq("read-only")) << path;
    EXPECT_THAT(view_.Judge(std::string(path) + "/new", kMake), StrEq("read-only")) << path;
    EXPECT_THAT(view_.Judge(std::string(path) + "/new", kCreate), StrEq("read-only")) << path;
    EXPECT_THAT(view_.Judge(std::string(path) + "/new", kReplace), StrEq("read-only")) << path;
  }
}

TEST_F(Mounts, WhatIsReadOnlyIsToldToWhoWrites) {
  for (const char* path : {"/usr/x", "/usr/bin/sh", "/usr/a/../b/./c", "/bin/sh", "/link/.claude/x",
                           "/w/.git/hooks/pre-commit", "/w/.git/config", "/w/.claude"}) {
    for (const FileAccess access : kWrites) {
      EXPECT_THAT(view_.Judge(path, access), StrEq("read-only")) << path;
    }
    EXPECT_THAT(view_.Judge(path, kRead), IsNull()) << path;
  }
  EXPECT_THAT(view_.Judge("/etc/passwd", kWrite), StrEq("read-only"));
  EXPECT_THAT(view_.Judge("/usr", kMake), IsNull());
  EXPECT_THAT(view_.Judge("/usr", kRemove), StrEq("read-only"));
}

TEST_F(Mounts, WhatIsWritableIsNotTold) {
  for (const char* path : {"/w/a", "/w/.git/HEAD", "/w/.git/hooks2", "/link/a", "/tmp/x/y",
                           "/var/me/.cache/x", "/srv/secret/but/a", "/dev/shm/x", "/dev/pts/0"}) {
    for (const FileAccess access : kAll) {
      EXPECT_THAT(view_.Judge(path, access), IsNull()) << path;
    }
  }
  for (const char* path : {"/dev/null", "/dev/tty", "/dev/stdout", "/dev/ptmx", "/dev/fd/3"}) {
    EXPECT_THAT(view_.Judge(path, kWrite), IsNull()) << path;
    EXPECT_THAT(view_.Judge(path, kCreate), IsNull()) << path;
  }
}

TEST_F(Mounts, WhatSomethingIsMountedOnOrBelowStays) {
  for (const char* path :
       {"/w/.git", "/w/.git/hooks", "/w", "/tmp", "/dev/null", "/bin", "/link"}) {
    EXPECT_THAT(view_.Judge(path, kRemove), StrEq("read-only")) << path;
    EXPECT_THAT(view_.Judge(path, kReplace), StrEq("read-only")) << path;
  }
  for (const char* path : {"/w/.git", "/w", "/tmp", "/bin"}) {
    EXPECT_THAT(view_.Judge(path, kMake), IsNull()) << path;
  }
}

TEST_F(Mounts, WhatIsHiddenIsToldWhateverIsAsked) {
  for (const char* path : {"/w/keys", "/w/keys/a", "/link/keys"}) {
    for (const FileAccess access : kAll) {
      EXPECT_THAT(view_.Judge(path, access), StrEq("hidden")) << path;
    }
  }
}

TEST_F(Mounts, SettingsInProcAreReadOnlyAndProcessesAreNot) {
  EXPECT_THAT(view_.Judge("/proc/sys/kernel/core_pattern", kWrite), StrEq("read-only"));
  EXPECT_THAT(view_.Judge("/proc/sys/kernel/core_pattern", kRead), IsNull());
  EXPECT_THAT(view_.Judge("/proc/self/oom_score_adj", kWrite), IsNull());
  EXPECT_THAT(view_.Judge("/proc/sysrq-trigger", kWrite), IsNull());
  EXPECT_THAT(FileView(Enclosed(), true).Judge("/proc/sysrq-trigger", kWrite), StrEq("read-only"));
}

TEST_F(Mounts, OfWhatAProcessHasOpenNothingIsKnown) {
  for (const char* path : {"/proc/self/fd/3", "/proc/7/task/8/fd/0", "/proc/thread-self/cwd/../x",
                           "/proc/1/cwd/etc/shadow", "/proc/self/exe", "/dev/stdin"}) {
    for (const FileAccess access : {kRead, kWrite, kCreate}) {
      EXPECT_THAT(view_.Judge(path, access), IsNull()) << path;
    }
  }
}

TEST_F(Mounts, DotsAreTakenByNameAfterLinksWereFollowed) {
  EXPECT_THAT(view_.Judge("/w/../etc/shadow", kRead), StrEq("not shown"));
  EXPECT_THAT(view_.Judge("/../../w/a", kWrite), IsNull());
  EXPECT_THAT(view_.Judge("/bin/../x", kWrite), StrEq("read-only"));
  EXPECT_THAT(view_.Judge("//w///.git/./hooks//x", kCreate), StrEq("read-only"));
}

TEST_F(Mounts, LinksInACircleEnd) {
  SandboxPlan plan = Enclosed();
  plan.mounts.push_back({.kind = Kind::kSymlink, .source = "/b", .target = "/a"});
  plan.mounts.push_back({.kind = Kind::kSymlink, .source = "a", .target = "/b"});
  EXPECT_THAT(FileView(plan, false).Judge("/a/x", kRead), IsNull());
}

TEST_F(Mounts, AFolderThatStandsForACarveOutIsReadOnly) {
  SandboxPlan plan = Enclosed();
  EXPECT_THAT(view_.Judge("/w/.git/HEAD", kCreate), IsNull());
  plan.missing = {"/w/.git"};
  EXPECT_THAT(FileView(plan, false).Judge("/w/.git/HEAD", kCreate), StrEq("read-only"));
  EXPECT_THAT(FileView(plan, false).Judge("/w/.git/hooks/x", kCreate), StrEq("read-only"));
}

TEST_F(Mounts, WhatWouldBeShownIfTheHostHadItIsNotTold) {
  SandboxPlan plan = Enclosed();
  plan.absent = {"/etc/ld.so.cache", "/lib32"};
  const FileView view(plan, false);
  EXPECT_THAT(view.Judge("/etc/ld.so.cache", kRead), IsNull());
  EXPECT_THAT(view.Judge("/etc/ld.so.cache", kCreate), StrEq("read-only"));
  EXPECT_THAT(view.Judge("/lib32/libc.so", kRead), IsNull());
  EXPECT_THAT(view.Judge("/lib33/libc.so", kRead), StrEq("not shown"));
  plan = Landlock();
  plan.absent = {"/etc/ld.so.cache"};
  EXPECT_THAT(FileView(plan, false).Judge("/etc/ld.so.cache", kRead), IsNull());
  EXPECT_THAT(FileView(plan, false).Judge("/etc/ld.so.cache", kCreate), StrEq("not allowed"));
}

TEST_F(Rules, WhatNoRuleCoversIsNotAllowed) {
  for (const char* path :
       {"/etc/shadow", "/home/.ssh/id_rsa", "/", "/etc", "/var/me", "/dev/sda"}) {
    EXPECT_THAT(view_.Judge(path, kRead), StrEq("not allowed")) << path;
    EXPECT_THAT(view_.Judge(path, kWrite), StrEq("not allowed")) << path;
    EXPECT_THAT(view_.Judge(path, kRemove), StrEq("not allowed")) << path;
    EXPECT_THAT(view_.Judge(path, kLook), IsNull()) << path;  // Landlock does not guard it
  }
  EXPECT_THAT(view_.Judge("/tmp/new", kCreate), StrEq("not allowed"));
  EXPECT_THAT(view_.Judge("/tmp/new", kMake), StrEq("not allowed"));
}

TEST_F(Rules, WhatRulesOnlyReadIsReadOnly) {
  for (const char* path : {"/usr/x", "/bin/sh", "/proc/self/oom_score_adj"}) {
    EXPECT_THAT(view_.Judge(path, kRead), IsNull()) << path;
    for (const FileAccess access : kWrites) {
      EXPECT_THAT(view_.Judge(path, access), StrEq("read-only")) << path;
    }
  }
}

TEST_F(Rules, WhatTheyGiveIsNotTold) {
  for (const char* path : {"/var/me/w/a", "/w/.git/hooks/x"}) {
    for (const FileAccess access : kAll) EXPECT_THAT(view_.Judge(path, access), IsNull()) << path;
  }
  EXPECT_THAT(view_.Judge("/dev/null", kCreate), IsNull());
  EXPECT_THAT(view_.Judge("/dev/stdout", kCreate), IsNull());
  for (const char* there : {"/var", "/var/me", "/var/me/w", "/dev", "/bin"}) {
    EXPECT_THAT(view_.Judge(there, kMake), IsNull()) << there;
  }
  EXPECT_THAT(view_.Judge("/var/me/w", kRemove), StrEq("read-only"));
}

TEST(AnyView, SaysNothingOfWhatIsNoPath) {
  const FileView view(Enclosed(), false);
  for (const char* path : {"", "x", "../x", "pipe:[1]"}) {
    EXPECT_THAT(view.Judge(path, kWrite), IsNull()) << path;
  }
  EXPECT_THAT(FileView(SandboxPlan(), false).Judge("/proc/self/x", kRead), StrEq("not shown"));
}

TEST(CleanPath, TakesDotsAndSlashesAway) {
  EXPECT_EQ(CleanPath("/"), "/");
  EXPECT_EQ(CleanPath("//a/./b//../c/"), "/a/c");
  EXPECT_EQ(CleanPath("/../../a"), "/a");
  EXPECT_EQ(CleanPath("/a/.."), "/");
}

}  // namespace
}  // namespace berth::launcher
