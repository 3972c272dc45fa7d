// Inits that were made before their plan was known (sandbox/launcher/enter/init.h): the sandbox is
// no different from one that is made for its plan, and shows the host as it is at the start.

#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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
#include "sandbox/launcher/client.h"
#include "sandbox/launcher/kernel.h"
#include "tests/escape/enclosed_test.h"

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

class EarlyTest : public EnclosedTest {
 protected:
  // Has one made, and returns it.
  pid_t MakeOne() {
    EXPECT_THAT(client_->Prepare(Plan().Encode()), IsOkAndHolds(1));
    const std::vector<pid_t> waiting = Waiting();
    EXPECT_THAT(waiting, Not(IsEmpty()));
    return waiting.empty() ? -1 : waiting.back();  // those before it may not have been reaped yet
  }
  launcher::SandboxPlan Showing(const std::string& source) const {
    launcher::SandboxPlan plan = Plan();
    plan.mounts.push_back(
        {.kind = Kind::kBind, .read_only = true, .source = source, .target = "/data"});
    return plan;
  }
  // Whether a start of that plan has this init.
  bool Takes(const launcher::SandboxPlan& plan, pid_t init) {
    const auto spawned = Start(plan, {"/bin/sleep", "1000"}, "/", -1, -1);
    EXPECT_THAT(spawned, IsOk());
    if (!spawned.ok()) return false;
    std::ifstream status(absl::StrCat("/proc/", spawned->pid, "/status"));
    pid_t parent = -1;
    for (std::string word; status >> word;) {
      if (word == "PPid:") status >> parent;
    }
    EXPECT_THAT(client_->Stop(spawned->pid, 0), IsOk());
    AwaitEnd(*spawned);
    return parent == init;
  }
};

TEST_F(EarlyTest, IsTakenByTheNextStartWhateverItIsToShow) {
  for (int i = 0; i < 3; ++i) {
    launcher::SandboxPlan plan = Showing(outside_);
    plan.hostname = absl::StrCat("host", i);
    EXPECT_TRUE(Takes(plan, MakeOne()));
  }
}

// All that can be seen inside of how it was made.
constexpr char kInside[] =
    "cut -d' ' -f4-6 /proc/self/mountinfo | sort; sed 's/.* - //' /proc/self/mountinfo | sort; "
    "ls -la / /dev | grep -v total | tr -s ' ' | cut -d' ' -f1,3-5,9-; cat /proc/self/uid_map; "
    "echo /proc/[0-9]*; grep -h . /proc/1/comm /proc/1/cmdline; pwd; uname -n; cat /proc/net/dev; "
    "for n in user mnt net ipc uts pid cgroup; do test /proc/1/ns/$n -ef /proc/self/ns/$n; done; "
    "ls /proc/1/root 2>&1; grep Cap /proc/self/status; "
    // The kernel lets nobody make one whose root is not that of its mounts.
    "unshare -Um echo has a user namespace of its own";

TEST_F(EarlyTest, InsideItIsAsInOneThatIsMadeForItsPlan) {
  launcher::SandboxPlan plan = Showing(outside_);
  plan.hostname = "inside";
  plan.mounts.push_back({.kind = Kind::kCarve, .target = Path("kept")});
  const Outcome cold = Shell(plan, kInside);
  EXPECT_THAT(cold.out, HasSubstr("inside"));
  EXPECT_THAT(cold.out, Not(HasSubstr(".berth-host")));
  EXPECT_THAT(cold.out, HasSubstr("has a user namespace of its own"));
  MakeOne();
  const Outcome early = Shell(plan, kInside);
  EXPECT_EQ(early.out, cold.out);
  EXPECT_EQ(early.err, cold.err);
}

TEST_F(EarlyTest, ShowsWhatTookAnothersPlaceMeanwhile) {
  const std::string data = outside_ + "/data";
  fs::create_directory(data);
  std::ofstream(data + "/file") << "old";
  MakeOne();
  fs::rename(data, outside_ + "/was");
  fs::create_directory(data);
  std::ofstream(data + "/file") << "new";
  EXPECT_EQ(Shell(Showing(data), "cat /data/file").out, "new");
}

TEST_F(EarlyTest, AMountOfTheHostIsSeenByTheNextStart) {
  const std::string data = outside_ + "/data";
  fs::create_directories(data + "/below");
  const pid_t init = MakeOne();
  const int mounted = mount("tmpfs", (data + "/below").c_str(), "tmpfs", 0, "size=1m");
  if (geteuid() != 0) {
    EXPECT_EQ(mounted, -1);  // a plain user changes nothing that another start could see
    return;
  }
  ASSERT_EQ(mounted, 0);
  std::ofstream(data + "/below/file") << "mounted";
  const Outcome outcome = Shell(Showing(data), "cat /data/below/file");
  EXPECT_FALSE(Takes(Showing(data), init));
  EXPECT_EQ(umount((data + "/below").c_str()), 0);
  EXPECT_EQ(outcome.out, "mounted");
}

TEST_F(EarlyTest, StartsThatItIsNotForLeaveItAlone) {
  const pid_t init = MakeOne();
  EXPECT_EQ(Shell(LandlockPlan(), "exit 3").exit.code, 3);
  launcher::SandboxPlan plan = Plan();
  plan.network = launcher::SandboxNetwork::kHost;
  EXPECT_FALSE(Takes(plan, init));
  EXPECT_TRUE(Takes(Plan(), init));
}

TEST_F(EarlyTest, OneThatWasKilledIsNotMissed) {
  for (int i = 0; i < 3; ++i) {
    const UniqueFd pidfd(launcher::PidfdOpen(MakeOne()));
    launcher::PidfdSignal(pidfd.get(), SIGKILL);
    EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end"), IsOk());
    EXPECT_EQ(Shell(Plan(), "exit 3").exit.code, 3);
  }
}

TEST_F(EarlyTest, DiesWithTheLauncher) {
  const UniqueFd init(launcher::PidfdOpen(MakeOne()));
  const UniqueFd launcher(launcher::PidfdOpen(client_->pid()));
  ASSERT_EQ(launcher::PidfdSignal(launcher.get(), SIGKILL), 0);
  EXPECT_THAT(WaitFd(init.get(), POLLIN, absl::Now() + absl::Seconds(30), "its end"), IsOk());
}

TEST_F(EarlyTest, OneIsMadeByItselfAfterTheSecondStart) {
  for (int i = 0; i < 2; ++i) {
    const auto spawned = Start(Plan(), {"/bin/true"}, "/", -1, -1);
    ASSERT_THAT(spawned, IsOk());
    AwaitGone(*spawned);
  }
  // Once nothing was started in a while, of which no descriptor tells: the launcher is asked for
  // something else meanwhile.
  for (int i = 0; i < 100000 && Waiting().empty(); ++i) {
    ASSERT_THAT(client_->Violations(1, 0), IsOk());
  }
  const std::vector<pid_t> waiting = Waiting();
  ASSERT_THAT(waiting, SizeIs(1));
  EXPECT_TRUE(Takes(Plan(), waiting.front()));
}

}  // namespace
}  // namespace berth
