// Scenario 11, the worst of it: trees that make new processes faster than they are killed.

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/actor.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

// Lets the machine live: no more than so many processes of this user. Root knows no such limit, so
// it becomes another.
void Bound(rlim_t processes) {
  const uid_t nobody = 3000000 + static_cast<uid_t>(getppid());
  if (getuid() == 0 && setresuid(nobody, nobody, nobody) != 0) _exit(98);
  const rlimit limit{processes, processes};
  if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(99);
  for (int each : {SIGTERM, SIGHUP, SIGINT}) signal(each, SIG_IGN);
}

// Every process forks whenever it may.
int Bomb(const std::vector<std::string>& args) {
  Bound(120);
  signal(SIGCHLD, SIG_IGN);
  const pid_t first = getpid();
  bool told = false;
  while (true) {
    const pid_t child = fork();
    if (child == 0) setsid();
    if (child < 0 && getpid() == first && !told) {
      told = true;
      Report(args[0], "full");
    }
  }
}

// No process lives longer than it takes to make the next one: whoever reads its number finds it
// gone.
int Hop(const std::vector<std::string>& args) {
  Bound(200);
  for (int i = 0; i < 8; ++i) {
    if (fork() != 0) continue;
    for (int hops = 0;;) {
      const pid_t child = fork();
      if (child > 0) _exit(0);
      if (child == 0 && ++hops == 20) Report(args[0], "hopping");
    }
  }
  StayForever();
}

const Actor kBomb("bomb", &Bomb);
const Actor kHop("hop", &Hop);

class ForkBomb : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
    ASSERT_EQ(chmod(reports_->path().c_str(), 0666), 0);
    ASSERT_EQ(chmod(work_.c_str(), 0755), 0);
  }
  std::unique_ptr<Fifo> reports_;
};

TEST_F(ForkBomb, InASessionIsDestroyed) {
  auto session =
      Create({.name = "bomb", .command = Command::Argv(ActorCommand({"bomb", reports_->path()}))});
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(reports_->Line(), "full");
  EXPECT_THAT(session->Destroy(absl::Milliseconds(100)), IsOk());
}

TEST_F(ForkBomb, ThatWasSpawnedIsStopped) {
  auto process =
      runtime_->Spawn({.command = Command::Argv(ActorCommand({"bomb", reports_->path()}))});
  ASSERT_THAT(process, IsOk());
  ASSERT_EQ(reports_->Line(), "full");
  const auto status = (*process)->Stop(absl::Milliseconds(100));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->signal, SIGKILL);
}

TEST_F(ForkBomb, WhoseProcessesAreGoneBeforeTheyAreSeenIsDestroyed) {
  auto session =
      Create({.name = "hop", .command = Command::Argv(ActorCommand({"hop", reports_->path()}))});
  ASSERT_NE(session, nullptr);
  reports_->Lines(8);
  EXPECT_THAT(session->Destroy(absl::Milliseconds(100)), IsOk());
}

TEST_F(ForkBomb, WhoseProcessesAreGoneBeforeTheyAreSeenEndsWithItsMainProcess) {
  auto process =
      runtime_->Spawn({.command = Command::Argv(ActorCommand({"hop", reports_->path()}))});
  ASSERT_THAT(process, IsOk());
  reports_->Lines(8);
  ASSERT_THAT((*process)->Signal(SIGKILL), IsOk());
  ASSERT_THAT((*process)->Wait(Soon()), IsOk());
  EXPECT_THAT((*process)->Stop(absl::ZeroDuration()), IsOk());
}

}  // namespace
}  // namespace berth
