// Keepers and launchers that are stopped or killed: what is not known is not declared dead, no call
// hangs, and nothing of what they held stays.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "tests/support/actor.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

// Reports `PID` as itself and as a daemon whose parent is gone. Deaf to TERM and HUP.
int Couple(const std::vector<std::string>& args) {
  for (int each : {SIGTERM, SIGHUP}) signal(each, SIG_IGN);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    Report(args[0], absl::StrCat(getpid()));
    StayForever();
  }
  wait(nullptr);
  Report(args[0], absl::StrCat(getpid()));
  StayForever();
}

const Actor kCouple("couple", &Couple);

class LostHelper : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  Command CoupleCommand() { return Command::Argv(ActorCommand({"couple", reports_->path()})); }
  std::vector<pid_t> Pids() {
    std::vector<pid_t> pids;
    for (const std::string& line : reports_->Lines(2)) pids.push_back(atoi(line.c_str()));
    return pids;
  }
  std::unique_ptr<Fifo> reports_;
};

using LostKeeper = LostHelper;
using LostLauncher = LostHelper;

TEST_F(LostKeeper, OneThatIsStoppedIsUnknownAndHoldsNobodyUp) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  const pid_t keeper = static_cast<pid_t>(RecordOf("a").keeper.pid);
  ASSERT_EQ(kill(keeper, SIGSTOP), 0);

  absl::Time start = absl::Now();
  EXPECT_THAT(session->Wait(start + absl::Milliseconds(100)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  const LivenessReport report = session->CheckLiveness();
  EXPECT_EQ(report.liveness, Liveness::kUnknown) << report.reason;
  EXPECT_FALSE(report.reason.empty());
  const auto listed = runtime_->List();
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ((*listed)[0].state, SessionState::kUnknown);
  // Its name is not free.
  EXPECT_THAT(runtime_->CreateSession({.name = "a", .command = Command::Argv({"cat"})}),
              StatusIs(absl::StatusCode::kAlreadyExists));

  ASSERT_EQ(kill(keeper, SIGCONT), 0);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

// What it showed last is still there to be seen, and is not taken for what it would say now.
TEST_F(LostKeeper, OneThatIsStoppedIsUnknownToWhoHasListedItBefore) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  auto other = Create({.name = "b", .command = Command::Argv({"cat"})});
  ASSERT_TRUE(session != nullptr && other != nullptr);
  for (int i = 0; i < 2; ++i) {
    const auto listed = runtime_->List();
    ASSERT_THAT(listed, IsOk());
    for (const SessionInfo& info : *listed) ASSERT_EQ(info.state, SessionState::kRunning);
  }
  const pid_t keeper = static_cast<pid_t>(RecordOf("a").keeper.pid);
  ASSERT_EQ(kill(keeper, SIGSTOP), 0);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kUnknown);  // and by now it has stopped
  auto listed = runtime_->List();
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ((*listed)[0].state, SessionState::kUnknown);
  EXPECT_EQ((*listed)[1].state, SessionState::kRunning);
  ASSERT_EQ(kill(keeper, SIGCONT), 0);
  ASSERT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  listed = runtime_->List();
  ASSERT_THAT(listed, IsOk());
  EXPECT_EQ((*listed)[0].state, SessionState::kRunning);
}

TEST_F(LostKeeper, OneThatIsKilledIsNotListedAsRunningByWhoHasListedItBefore) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  ASSERT_EQ((*runtime_->List())[0].state, SessionState::kRunning);
  const Record record = RecordOf("a");
  ASSERT_EQ(kill(static_cast<pid_t>(record.keeper.pid), SIGKILL), 0);
  ExpectGone(static_cast<pid_t>(record.keeper.pid), absl::Seconds(20));
  EXPECT_NE((*runtime_->List())[0].state, SessionState::kRunning);
  ExpectGone(static_cast<pid_t>(record.leader.pid), absl::Seconds(20));
  const auto listed = runtime_->List();
  ASSERT_THAT(listed, IsOk());
  EXPECT_EQ((*listed)[0].state, SessionState::kExited);
  EXPECT_EQ((*listed)[0].exit.reason, EndReason::kUnknown);
}

// 128 connections fit in the queue of a keeper that does not accept; the next one waits for room.
TEST_F(LostKeeper, OneThatIsStoppedHoldsNobodyUpHoweverOftenItIsAsked) {
  auto session = Create({.name = "a", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  const pid_t keeper = static_cast<pid_t>(RecordOf("a").keeper.pid);
  ASSERT_EQ(kill(keeper, SIGSTOP), 0);
  const absl::Time start = absl::Now();
  for (int i = 0; i < 300; ++i) {
    const auto status = session->Wait(absl::Now() + absl::Milliseconds(1));
    ASSERT_THAT(status.status().code(), testing::AnyOf(absl::StatusCode::kDeadlineExceeded,
                                                       absl::StatusCode::kUnavailable));
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  ASSERT_EQ(kill(keeper, SIGCONT), 0);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(LostKeeper, OneThatIsKilledTakesTheMainProcessAlongAndNoEndIsMadeUp) {
  auto session = Create({.name = "a", .command = CoupleCommand()});
  ASSERT_NE(session, nullptr);
  const std::vector<pid_t> pids = Pids();
  const Record record = RecordOf("a");
  auto exit = session->ExitFd();
  ASSERT_THAT(exit, IsOk());
  ASSERT_EQ(kill(static_cast<pid_t>(record.keeper.pid), SIGKILL), 0);
  ExpectGone(static_cast<pid_t>(record.leader.pid), absl::Seconds(20));
  const auto status = session->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->reason, EndReason::kUnknown) << Describe(*status);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_THAT(session->Send({.text = "x"}), StatusIs(absl::StatusCode::kFailedPrecondition));
  // Whatever it held is gone once Destroy has returned: the daemon too.
  ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
  EXPECT_THAT(runtime_->Find("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LostKeeper, OneThatIsKilledAfterTheEndHasWrittenItDown) {
  auto session = Create({.name = "a", .command = Command::Shell("exit 6")});
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->Wait(Soon()), IsOk());
  const pid_t keeper = static_cast<pid_t>(RecordOf("a").keeper.pid);
  ASSERT_EQ(kill(keeper, SIGKILL), 0);
  ExpectGone(keeper, absl::Seconds(20));
  const auto status = session->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{6, 0, EndReason::kExited})) << Describe(*status);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
}

TEST_F(LostLauncher, OneThatIsKilledLeavesNothingOfWhatItSpawned) {
  if (!World::Exists()) GTEST_SKIP() << "the launcher cannot be found: " << World::WhyNot();
  auto session = Create({.name = "durable", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  auto process = runtime_->Spawn({.command = CoupleCommand()});
  ASSERT_THAT(process, IsOk());
  const std::vector<pid_t> pids = Pids();
  // A supervisor is a fork of the launcher and has its name: the launcher is the parent.
  std::vector<pid_t> launchers = World::MembersNamed("berth-launcher");
  ASSERT_FALSE(launchers.empty());
  const pid_t launcher = launchers[0];
  ASSERT_EQ(kill(launcher, SIGKILL), 0);
  ExpectGone((*process)->pid(), absl::Seconds(20));
  const auto status = (*process)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  if (status->reason !=
      EndReason::kUnknown) {  // a supervisor outlives the launcher for a moment, and tells
    EXPECT_EQ(status->signal, SIGKILL) << Describe(*status);
  }
  ASSERT_THAT((*process)->Stop(absl::ZeroDuration()), IsOk());
  for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
  // Sessions do not depend on it, and the next start has a launcher again.
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  auto again = runtime_->Spawn({.command = Command::Argv({"true"})});
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE((*again)->Wait(Soon())->success());
  EXPECT_NE(Create({.name = "next", .command = Command::Argv({"cat"})}), nullptr);
}

}  // namespace
}  // namespace berth
