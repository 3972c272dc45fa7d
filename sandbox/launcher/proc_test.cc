#include "sandbox/launcher/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A child that has a child, both until killed; `name` is that of both.
class Family {
 public:
  explicit Family(const char* name = "family") {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      prctl(PR_SET_NAME, name);
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) pause();
      }
      if (write(ends[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild)) _exit(1);
      while (true) pause();
    }
    close(ends[1]);
    if (read(ends[0], &grandchild_, sizeof(grandchild_)) != sizeof(grandchild_)) abort();
    close(ends[0]);
  }
  ~Family() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  pid_t child() const { return child_; }
  pid_t grandchild() const { return grandchild_; }

 private:
  pid_t child_ = -1, grandchild_ = -1;
};

TEST(ProcStat, OfNamesMadeToMislead) {
  for (const char* name :
       {") R 1 1 1 1", "a b) S 1 (", "((((", "))))", " ", "\n) Z 1 1", "%d%s%n", "\xff\xfe)"}) {
    const Family family(name);
    ProcStat stat;
    ASSERT_TRUE(ReadProcStat(family.child(), &stat)) << name;
    EXPECT_EQ(stat.parent, getpid()) << name;
    EXPECT_TRUE(stat.state == 'S' || stat.state == 'R') << name << ": " << stat.state;
    EXPECT_GT(stat.start_time, 0u) << name;
    EXPECT_GT(stat.rss_pages, 0) << name;
    EXPECT_LT(stat.cpu_ticks, 1000u) << name;
  }
}

TEST(ProcStat, OfNoProcess) {
  ProcStat stat;
  EXPECT_FALSE(ReadProcStat(1 << 30, &stat));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(ReadProcStat(child, &stat));
  EXPECT_EQ(stat.state, 'Z');
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ReadProcStat(child, &stat));
}

TEST(Descendants, ParentsComeBeforeChildren) {
  EXPECT_THAT(Descendants(getpid()), IsEmpty());
  const Family family;
  EXPECT_THAT(Descendants(getpid()), ElementsAre(family.child(), family.grandchild()));
  EXPECT_THAT(Descendants(family.child()), ElementsAre(family.grandchild()));
  EXPECT_THAT(Descendants(family.grandchild()), IsEmpty());
}

// A child is the child of the thread that made it.
TEST(Descendants, OfAllThreads) {
  pid_t child = -1;
  absl::Notification forked, looked;
  std::thread thread([&] {
    child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
    forked.Notify();
    looked.WaitForNotification();  // its children would be the main thread's without it
  });
  forked.WaitForNotification();
  EXPECT_THAT(Descendants(getpid()), ElementsAre(child));
  looked.Notify();
  thread.join();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Descendants, LeaveOutWhatIsExcepted) {
  const Family one, two;
  EXPECT_THAT(Descendants(getpid(), {one.child()}), ElementsAre(two.child(), two.grandchild()));
  EXPECT_THAT(Descendants(getpid(), {one.grandchild(), two.child()}), ElementsAre(one.child()));
}

TEST(SignalDescendants, ReachesThoseBelowAndNobodyElse) {
  const Family one, two;
  const UniqueFd other(PidfdOpen(two.grandchild()));
  EXPECT_EQ(SignalDescendants(one.child(), SIGKILL), 1);
  const UniqueFd pidfd(PidfdOpen(one.grandchild()));
  if (pidfd.ok()) {
    EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "killed"), IsOk());
  }
  EXPECT_EQ(kill(one.child(), 0), 0);
  EXPECT_THAT(WaitFd(other.get(), POLLIN, absl::Now(), "not killed"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(SignalDescendants(getpid(), 0, {one.child()}), 2);
}

}  // namespace
}  // namespace berth::launcher
