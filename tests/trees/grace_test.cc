// Scenario 11: what is asked to end, and what is made to.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
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
#include "runtime/types.h"
#include "tests/support/actor.h"
#include "tests/support/tree_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

constexpr absl::Duration kGrace = absl::Milliseconds(400);
constexpr absl::Duration kLong = absl::Minutes(5);  // no test lasts that long
constexpr absl::Duration kSoon =
    absl::Seconds(20);  // far from kLong, and enough for a loaded machine

// A child, a grandchild and a daemon that all do the same; each reports `NAME PID`.
int Family(const std::vector<std::string>& args) {
  for (int i = 2; i < static_cast<int>(args.size()); ++i) signal(atoi(args[i].c_str()), SIG_IGN);
  if (fork() == 0) {
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      Report(args[0], absl::StrCat("daemon ", getpid()));
      if (args[1] == "stopped") raise(SIGSTOP);
      StayForever();
    }
    wait(nullptr);
    Report(args[0], absl::StrCat("child ", getpid()));
    if (args[1] == "stopped") raise(SIGSTOP);
    StayForever();
  }
  Report(args[0], absl::StrCat("main ", getpid()));
  if (args[1] == "stopped") raise(SIGSTOP);
  StayForever();
}

const Actor kFamily("family", &Family);

class Grace : public TreeTest {
 protected:
  std::vector<std::string> FamilyCommand(const std::string& how, const std::vector<int>& ignored) {
    std::vector<std::string> command = {"family", reports_->path(), how};
    for (int each : ignored) command.push_back(absl::StrCat(each));
    return ActorCommand(std::move(command));
  }
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  void ExpectAllGone(const std::vector<std::string>& reports) {
    for (const std::string& report : reports) {
      const pid_t pid = atoi(report.substr(report.find(' ')).c_str());
      EXPECT_FALSE(IsAlive(pid)) << report;
    }
  }
  std::unique_ptr<Fifo> reports_;
};

TEST_F(Grace, ATreeThatIgnoresTermDiesAtTheGrace) {
  auto session = Create(
      {.name = "deaf", .command = Command::Argv(FamilyCommand("", {SIGTERM, SIGHUP, SIGINT}))});
  ASSERT_NE(session, nullptr);
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  const auto status = session->Stop(kGrace);
  const absl::Duration took = absl::Now() - start;
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{0, SIGKILL, EndReason::kStopped}));
  EXPECT_GE(took, kGrace);
  EXPECT_LT(took, kSoon);
  ExpectAllGone(reports);
}

TEST_F(Grace, ASpawnedTreeThatIgnoresTermDiesAtTheGrace) {
  auto process =
      runtime_->Spawn({.command = Command::Argv(FamilyCommand("", {SIGTERM, SIGHUP, SIGINT}))});
  ASSERT_THAT(process, IsOk());
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  const auto status = (*process)->Stop(kGrace);
  const absl::Duration took = absl::Now() - start;
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{0, SIGKILL, EndReason::kStopped}));
  EXPECT_GE(took, kGrace);
  EXPECT_LT(took, kSoon);
  ExpectAllGone(reports);
}

TEST_F(Grace, AWillingTreeMakesStopReturnAtOnce) {
  auto session = Create({.name = "willing", .command = Command::Argv(FamilyCommand("", {}))});
  ASSERT_NE(session, nullptr);
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  const auto status = session->Stop(kLong);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{0, SIGTERM, EndReason::kStopped}));
  EXPECT_LT(absl::Now() - start, kSoon);
  ExpectAllGone(reports);
}

TEST_F(Grace, AProgramThatHandlesTermGivesItsOwnCode) {
  auto session = Create(
      {.name = "tidy",
       .command = Command::Shell(absl::StrCat("trap 'exit 3' TERM; echo ready >", reports_->path(),
                                              "; while :; do sleep 1000 & wait; done"))});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(reports_->Line(), "ready");
  const auto status = session->Stop(kLong);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{3, 0, EndReason::kStopped}));
}

TEST_F(Grace, ASecondStopMayShortenTheGraceOfTheFirst) {
  auto session = Create({.name = "deaf", .command = Command::Argv(FamilyCommand("", {SIGTERM}))});
  ASSERT_NE(session, nullptr);
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  std::thread patient([&] { EXPECT_THAT(session->Stop(kLong), IsOk()); });
  EXPECT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  patient.join();
  EXPECT_LT(absl::Now() - start, kSoon);
  ExpectAllGone(reports);
}

TEST_F(Grace, OneThatIgnoresHangUpDies) {
  auto session = Create({.name = "nohup", .command = Command::Argv(FamilyCommand("", {SIGHUP}))});
  ASSERT_NE(session, nullptr);
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  EXPECT_THAT(session->Destroy(kLong), IsOk());
  EXPECT_LT(absl::Now() - start, kSoon);
  ExpectAllGone(reports);
}

// TERM does not reach a stopped process before it goes on.
TEST_F(Grace, AStoppedTreeDiesAtOnce) {
  auto session =
      Create({.name = "stopped", .command = Command::Argv(FamilyCommand("stopped", {}))});
  ASSERT_NE(session, nullptr);
  const std::vector<std::string> reports = reports_->Lines(3);
  const absl::Time start = absl::Now();
  const auto status = session->Stop(kLong);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{0, SIGTERM, EndReason::kStopped}));
  EXPECT_LT(absl::Now() - start, kSoon);
  ExpectAllGone(reports);
}

TEST_F(Grace, AStoppedTreeThatIgnoresTermDiesAtTheGrace) {
  auto process = runtime_->Spawn({.command = Command::Argv(FamilyCommand("stopped", {SIGTERM}))});
  ASSERT_THAT(process, IsOk());
  const std::vector<std::string> reports = reports_->Lines(3);
  const auto status = (*process)->Stop(kGrace);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->signal, SIGKILL);
  ExpectAllGone(reports);
}

// An exec is of the session's tree, and has the session's grace.
TEST_F(Grace, AnExecHasTheGraceOfItsSession) {
  auto session = Create({.name = "place", .command = Command::Argv(FamilyCommand("", {SIGTERM}))});
  ASSERT_NE(session, nullptr);
  reports_->Lines(3);
  auto process =
      session->Exec({.command = Command::Shell(absl::StrCat(
                         "trap 'echo asked >", reports_->path(), "; exit 5' TERM; echo ready >",
                         reports_->path(), "; while :; do sleep 1000 & wait; done"))});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(reports_->Line(), "ready");
  ASSERT_THAT(session->Stop(kGrace), IsOk());
  EXPECT_EQ(reports_->Line(), "asked");
  const auto status = (*process)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{5, 0, EndReason::kStopped})) << Describe(*status);
}

}  // namespace
}  // namespace berth
