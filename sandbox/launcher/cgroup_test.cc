#include "sandbox/launcher/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/child.h"

namespace berth::launcher {
namespace {

using ::absl_testing::IsOk;
using ::testing::UnorderedElementsAre;

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    group_ = Cgroup::Own().MakeChild(absl::StrCat("berth-cgroup-test-", getpid()));
    if (!group_.ok()) GTEST_SKIP() << "this user can make no cgroup here";
  }
  void TearDown() override {
    if (!group_.ok()) return;
    for (const pid_t pid : children_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    EXPECT_TRUE(group_.Remove());
  }
  // A process in `group` that ignores TERM.
  pid_t Start(const Cgroup& group) {
    const char* argv[] = {"sh", "-c", "trap '' TERM; exec sleep 1000", nullptr};
    const char* env[] = {"PATH=/usr/bin:/bin", nullptr};
    ChildPlan plan;
    plan.argv = argv;
    plan.env = env;
    int pidfd = -1;
    const pid_t pid = StartChild(&plan, group.dir_fd(), &pidfd);
    EXPECT_GT(pid, 0);
    if (pidfd >= 0) close(pidfd);
    children_.push_back(pid);
    return pid;
  }
  static void AwaitEmpty(const Cgroup& group) {
    while (!group.Empty()) {
      ASSERT_THAT(WaitFd(group.events_fd(), POLLPRI, absl::Now() + absl::Seconds(20), "empty"),
                  IsOk());
    }
  }
  Cgroup group_;
  std::vector<pid_t> children_;
};

TEST_F(CgroupTest, HoldsWhatIsStartedInItAndBelow) {
  EXPECT_TRUE(group_.Empty());
  Cgroup below = group_.MakeChild("below");
  ASSERT_TRUE(below.ok());
  const pid_t one = Start(group_);
  const pid_t two = Start(below);
  EXPECT_FALSE(group_.Empty());
  EXPECT_THAT(group_.Processes(), UnorderedElementsAre(one, two));
  EXPECT_THAT(below.Processes(), UnorderedElementsAre(two));
  EXPECT_EQ(CgroupOf(two), below.path());
  EXPECT_GE(group_.CpuNs(), 0);
  EXPECT_FALSE(below.Remove()) << "somebody is in it";
}

TEST_F(CgroupTest, KillEndsAllOfIt) {
  Cgroup below = group_.MakeChild("below");
  Start(group_);
  Start(below);
  group_.Signal(SIGTERM);  // ignored
  EXPECT_FALSE(group_.Empty());
  group_.Kill();
  AwaitEmpty(group_);
  EXPECT_TRUE(below.Remove());
}

TEST_F(CgroupTest, SignalReachesThoseBelow) {
  Cgroup below = group_.MakeChild("below");
  Start(group_);
  Start(below);
  group_.Signal(SIGKILL);
  AwaitEmpty(group_);
}

// See CanStartIn. Whether a child in the killed group itself lives depends on the kernel.
TEST_F(CgroupTest, AFreshGroupBelowOneThatWasKilledCanBeStartedIn) {
  EXPECT_TRUE(CanStartIn(group_.dir_fd()));
  group_.Kill();
  RecordProperty("lives_in_a_killed_group", CanStartIn(group_.dir_fd()) ? "yes" : "no");
  Cgroup fresh = group_.MakeChild("fresh");
  EXPECT_TRUE(CanStartIn(fresh.dir_fd()));
}

TEST_F(CgroupTest, OpensByPathOnlyWhatIsThere) {
  Cgroup again = Cgroup::Open(group_.path());
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(again.path(), group_.path());
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("x"), group_.path() + "/nothing",
        group_.path() + "/", std::string("/no/such/group")}) {
    EXPECT_FALSE(Cgroup::Open(path).ok()) << path;
  }
}

TEST_F(CgroupTest, ThatIsRemovedUnderOneIsEmpty) {
  Cgroup again = Cgroup::Open(group_.path());
  ASSERT_TRUE(group_.Remove());
  EXPECT_TRUE(again.Empty());
  EXPECT_TRUE(again.Remove()) << "once is enough";
}

}  // namespace
}  // namespace berth::launcher
