// The tier pooled: sandboxes that wait for a program. What is inside is as in the tier namespaces,
// and nobody notices those that wait.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/kernel.h"
#include "tests/escape/enclosed_test.h"
#include "tests/support/actor.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Kind = launcher::SandboxMount::Kind;

constexpr int kOom = 6;

class PooledTest : public EnclosedTest {
 protected:
  launcher::SandboxPlan Pooled() const {
    launcher::SandboxPlan plan = Plan();
    plan.tier = launcher::SandboxTier::kPooled;
    return plan;
  }
  // With a folder of the host's as /data.
  launcher::SandboxPlan Showing(const std::string& source) const {
    launcher::SandboxPlan plan = Pooled();
    plan.mounts.push_back(
        {.kind = Kind::kBind, .read_only = true, .source = source, .target = "/data"});
    return plan;
  }
  absl::StatusOr<int> Prepare(const launcher::SandboxPlan& plan) {
    prepares_ = false;  // this is what is to be taken
    return client_->Prepare(plan.Encode());
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(work_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(PooledTest, AStartTakesOneThatWaitsAndSaysSo) {
  ASSERT_THAT(Prepare(Pooled()), IsOkAndHolds(2));
  EXPECT_THAT(Waiting(), SizeIs(2));
  const Outcome outcome = Shell(Pooled(), "echo hello; pwd; exit 3");
  EXPECT_TRUE(outcome.prepared);
  EXPECT_EQ(outcome.out, absl::StrCat("hello\n", work_, "\n"));
  EXPECT_EQ(outcome.exit.code, 3);
}

TEST_F(PooledTest, WithoutOneItIsStartedAnew) {
  prepares_ = false;
  const Outcome outcome = Shell(Pooled(), "echo hello");
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "hello\n");
  EXPECT_THAT(Waiting(), IsEmpty());
}

TEST_F(PooledTest, ThoseThatWaitAreForTheirOwnPlanOnly) {
  ASSERT_THAT(Prepare(Pooled()), IsOkAndHolds(2));
  launcher::SandboxPlan other = Pooled();
  other.hostname = "elsewhere";
  const Outcome outcome = Shell(other, "uname -n");
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "elsewhere\n");
}

const Actor kMark("mark", [](const std::vector<std::string>&) {
  for (const char* path : {"/tmp/mark", "/dev/shm/mark"}) std::ofstream(path) << "marked";
  return shmget(0x6d61726b, 4096, IPC_CREAT | 0600) >= 0 ? 0 : 1;
});

const Actor kLook("look", [](const std::vector<std::string>&) {
  for (const char* path : {"/tmp/mark", "/dev/shm/mark"}) {
    if (access(path, F_OK) == 0) printf("%s\n", path);
  }
  if (shmget(0x6d61726b, 4096, 0600) >= 0) printf("SysV\n");
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) printf("%s ", name.c_str());
  }
  return 0;
});

// Row 17 of the list of escapes. All have waited since before the first ran.
TEST_F(PooledTest, NothingOfOneRunIsSeenInTheNext) {
  ASSERT_THAT(Prepare(Pooled()), IsOkAndHolds(2));
  const Outcome first = Act(Pooled(), {"mark"});
  EXPECT_TRUE(first.prepared);
  EXPECT_EQ(first.exit.code, 0);
  const Outcome second = Act(Pooled(), {"look"});
  EXPECT_TRUE(second.prepared);
  EXPECT_EQ(second.out, "1 2 ");
  EXPECT_NE(access("/dev/shm/mark", F_OK), 0);
}

TEST_F(PooledTest, ThoseThatWaitHaveNoDescriptorsAndNoFolderOfTheHost) {
  ASSERT_THAT(Prepare(Pooled()), IsOkAndHolds(2));
  if (geteuid() != 0) {
    for (const pid_t pid : Waiting()) {
      EXPECT_NE(access(absl::StrCat("/proc/", pid, "/fd/0").c_str(), F_OK), 0) << "all may look";
    }
    return;
  }
  for (const pid_t pid : Waiting()) {
    for (const auto& entry : fs::directory_iterator(absl::StrCat("/proc/", pid, "/fd"))) {
      const std::string leads = fs::read_symlink(entry.path());
      EXPECT_TRUE(leads == "/dev/null" || leads.starts_with("socket:") || leads == "/" ||
                  leads.find("anon_inode") != std::string::npos || leads == work_)
          << leads;
    }
    EXPECT_EQ(fs::read_symlink(absl::StrCat("/proc/", pid, "/cwd")), "/");
    std::ostringstream mounts;
    mounts << std::ifstream(absl::StrCat("/proc/", pid, "/mountinfo")).rdbuf();
    EXPECT_THAT(mounts.str(), Not(HasSubstr("/outside")));
  }
}

TEST_F(PooledTest, ThoseThatWaitDieWithTheLauncher) {
  ASSERT_THAT(Prepare(Pooled()), IsOkAndHolds(2));
  std::vector<UniqueFd> waiting;
  for (const pid_t pid : Waiting()) waiting.emplace_back(launcher::PidfdOpen(pid));
  ASSERT_THAT(waiting, SizeIs(2));
  const UniqueFd launcher(launcher::PidfdOpen(client_->pid()));
  ASSERT_EQ(launcher::PidfdSignal(launcher.get(), SIGKILL), 0);
  for (const UniqueFd& each : waiting) {
    EXPECT_THAT(WaitFd(each.get(), POLLIN, absl::Now() + absl::Seconds(30), "wait for its end"),
                IsOk());
  }
}

TEST_F(PooledTest, AFolderThatWasReplacedIsShownAsItIsNow) {
  const std::string data = outside_ + "/data";
  fs::create_directory(data);
  std::ofstream(data + "/file") << "old";
  ASSERT_THAT(Prepare(Showing(data)), IsOkAndHolds(2));
  fs::rename(data, outside_ + "/was");
  fs::create_directory(data);
  std::ofstream(data + "/file") << "new";
  const Outcome outcome = Shell(Showing(data), "cat /data/file");
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "new");
}

TEST_F(PooledTest, AFileThatWasReplacedIsShownAsItIsNow) {
  const std::string data = outside_ + "/data";
  std::ofstream(data) << "old";
  ASSERT_THAT(Prepare(Showing(data)), IsOkAndHolds(2));
  std::ofstream(data) << "changed";  // the same file
  Outcome outcome = Shell(Showing(data), "cat /data");
  EXPECT_TRUE(outcome.prepared);
  EXPECT_EQ(outcome.out, "changed");
  // All that wait have been made before it is replaced, also the one that took that one's place.
  ASSERT_THAT(Prepare(Showing(data)), IsOkAndHolds(2));
  std::ofstream(outside_ + "/next") << "new";
  fs::rename(outside_ + "/next", data);
  outcome = Shell(Showing(data), "cat /data");
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "new");
}

TEST_F(PooledTest, ASymlinkThatWasSwappedLeadsWhereItLeadsNow) {
  for (const char* name : {"a", "b"}) {
    fs::create_directory(absl::StrCat(outside_, "/", name));
    std::ofstream(absl::StrCat(outside_, "/", name, "/file")) << name;
  }
  const std::string link = outside_ + "/link";
  fs::create_symlink(outside_ + "/a", link);
  ASSERT_THAT(Prepare(Showing(link)), IsOkAndHolds(2));
  fs::remove(link);
  fs::create_symlink(outside_ + "/b", link);
  const Outcome outcome = Shell(Showing(link), "cat /data/file");
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "b");
}

TEST_F(PooledTest, WhatIsNotThereAnyMoreFailsAsItWouldAnew) {
  const std::string data = outside_ + "/data";
  fs::create_directory(data);
  ASSERT_THAT(Prepare(Showing(data)), IsOkAndHolds(2));
  fs::remove(data);
  EXPECT_THAT(Start(Showing(data), {"/bin/true"}, "/", -1, -1).status(),
              absl_testing::StatusIs(absl::StatusCode::kNotFound, HasSubstr(data)));
}

TEST_F(PooledTest, AFolderBoundIntoAnotherIsReadOnlyThoughItWasMovedMeanwhile) {
  fs::create_directories(work_ + "/sub");
  launcher::SandboxPlan plan = Pooled();
  plan.mounts.push_back(
      {.kind = Kind::kBind, .read_only = true, .source = work_ + "/sub", .target = work_ + "/sub"});
  ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
  fs::rename(work_ + "/sub", work_ + "/moved");
  fs::rename(work_ + "/moved", work_ + "/sub");
  const Outcome outcome = Shell(plan, "touch sub/file; touch file");
  EXPECT_TRUE(outcome.prepared);
  EXPECT_THAT(outcome.err, HasSubstr("sub/file"));
  EXPECT_FALSE(fs::exists(work_ + "/sub/file"));
  EXPECT_TRUE(fs::exists(work_ + "/file"));
}

TEST_F(PooledTest, AMountOfTheHostIsSeenByTheNextStart) {
  const std::string data = outside_ + "/data";
  fs::create_directories(data + "/below");
  ASSERT_THAT(Prepare(Showing(data)), IsOkAndHolds(2));
  const int mounted = mount("tmpfs", (data + "/below").c_str(), "tmpfs", 0, "size=1m");
  if (geteuid() != 0) {
    EXPECT_EQ(mounted, -1);  // a plain user changes nothing that another start could see
    EXPECT_TRUE(Shell(Showing(data), "true").prepared);
    return;
  }
  ASSERT_EQ(mounted, 0);
  std::ofstream(data + "/below/file") << "mounted";
  const Outcome outcome = Shell(Showing(data), "cat /data/below/file");
  EXPECT_EQ(umount((data + "/below").c_str()), 0);
  EXPECT_FALSE(outcome.prepared);
  EXPECT_EQ(outcome.out, "mounted");
}

TEST_F(PooledTest, PlaceholdersAreInTheWorkspaceOnlyWhileSomethingRuns) {
  launcher::SandboxPlan plan = Pooled();
  for (const char* name : {".bashrc", ".profile", ".git/hooks"}) {
    plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(name)});
  }
  ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
  EXPECT_THAT(Names(), IsEmpty());
  const Outcome outcome =
      Shell(plan, "echo bad >.bashrc; rm -f .profile; mkdir -p .git/hooks; ls -A");
  EXPECT_TRUE(outcome.prepared);
  EXPECT_EQ(outcome.out, ".bashrc\n.git\n.profile\n");
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PooledTest, OneThatTurnsOutToBeStaleLeavesNoPlaceholders) {
  const std::string data = outside_ + "/data";
  launcher::SandboxPlan plan = Showing(data);
  for (int i = 0; i < 50; ++i) {
    fs::create_directory(data);
    plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(absl::StrCat("f", i))});
    ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
    fs::remove(data);  // so that no other comes as far as to take them over
    EXPECT_FALSE(Start(plan, {"/bin/true"}, "/", -1, -1).ok());
  }
  client_.reset();  // once all is taken apart
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PooledTest, ATrapInTheWorkspaceFailsTheStartAsItWouldAnew) {
  launcher::SandboxPlan plan = Pooled();
  plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(".git/hooks")});
  ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
  fs::create_symlink("/etc", Path(".git"));
  EXPECT_FALSE(Start(plan, {"/bin/true"}, "/", -1, -1).ok());
  EXPECT_FALSE(fs::exists("/etc/hooks"));
}

TEST_F(PooledTest, AMemoryLimitHoldsEachTimeAndIsTold) {
  launcher::SandboxPlan plan = Pooled();
  plan.memory_bytes = 64 << 20;
  plan.swap_bytes = 0;
  const absl::StatusOr<int> waiting = Prepare(plan);
  ASSERT_THAT(waiting, IsOk());
  if (*waiting == 0) {
    // A plain user has no groups here: none waits, and none starts.
    EXPECT_FALSE(Start(plan, {"/bin/true"}, "/", -1, -1).ok());
    return;
  }
  prepares_ = true;
  for (int i = 0; i < 3; ++i) {
    const Outcome bomb = Run(plan, {"/usr/bin/tail", "/dev/zero"});
    EXPECT_TRUE(bomb.prepared);
    EXPECT_EQ(bomb.exit.reason, kOom);
    const Outcome after = Shell(plan, "exit 4");
    EXPECT_TRUE(after.prepared);
    EXPECT_EQ(after.exit.reason, 0);
    EXPECT_EQ(after.exit.code, 4);
  }
}

TEST_F(PooledTest, TheyAreFewHoweverManyPlansThereAre) {
  for (int i = 0; i < 12; ++i) {
    launcher::SandboxPlan plan = Pooled();
    plan.hostname = absl::StrCat("host", i);
    ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
  }
  // Those that made room may not have been reaped yet.
  ASSERT_THAT(Shell(Plan(), "true").exit.code, 0);
  EXPECT_LE(Waiting().size(), 8);
}

TEST_F(PooledTest, AThousandStartsAllRunAndLeaveNothing) {
  const launcher::SandboxPlan plan = Pooled();
  prepares_ = false;
  ASSERT_THAT(Prepare(plan), IsOkAndHolds(2));
  // Other tests may mount something meanwhile: then those that wait are dropped.
  const UniqueFd mounts(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  int prepared = 0, dropped = 0;
  for (int i = 0; i < 1000; ++i) {
    // Now and then they are made ready, as after a quiet time.
    if (i % 2 == 0) {
      ASSERT_THAT(client_->Prepare(plan.Encode()), IsOk());
    }
    const auto spawned = Start(plan, {"/bin/true"}, "/", -1, -1);
    ASSERT_THAT(spawned, IsOk());
    ASSERT_EQ(AwaitEnd(*spawned).code, 0);
    prepared += spawned->prepared ? 1 : 0;
    pollfd changed{mounts.get(), POLLPRI, 0};
    if (poll(&changed, 1, 0) > 0) dropped += 2;
  }
  EXPECT_GE(prepared, 1000 - dropped);
}

}  // namespace
}  // namespace berth
