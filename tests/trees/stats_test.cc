// Stats: what a busy tree uses, plausibly.

#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
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
using ::absl_testing::StatusIs;

constexpr int kMegabytes = 64;
constexpr int64_t kBytes = int64_t{kMegabytes} << 20;
constexpr absl::Duration kCpu = absl::Milliseconds(300);

// A main process that has used kCpu and has kBytes, a child, and a daemon whose parent is gone:
// three.
int Busy(const std::vector<std::string>& args) {
  if (fork() == 0) StayForever();
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    Report(args[0], "daemon");
    StayForever();
  }
  std::vector<char> memory(kBytes);
  memset(memory.data(), 1, memory.size());
  timespec used;
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (absl::DurationFromTimespec(used) < kCpu);
  Report(args[0], "busy");
  StayForever();
}

const Actor kBusy("busy", &Busy);

void ExpectPlausible(const Stats& stats) {
  EXPECT_GE(stats.cpu, kCpu - absl::Milliseconds(20));  // of ticks of 10 ms
  EXPECT_LT(stats.cpu, absl::Seconds(20));
  EXPECT_GE(stats.memory_bytes, kBytes);
  EXPECT_LT(stats.memory_bytes, 4 * kBytes);
  EXPECT_GE(stats.processes, 3);
  EXPECT_LE(stats.processes, 4);  // the child that made the daemon, if nobody has waited for it yet
  EXPECT_FALSE(stats.source.empty());
}

class StatsTest : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  Command BusyCommand() { return Command::Argv(ActorCommand({"busy", reports_->path()})); }
  std::unique_ptr<Fifo> reports_;
};

TEST_F(StatsTest, OfASessionCountItsWholeTree) {
  auto session = Create({.name = "busy", .command = BusyCommand()});
  ASSERT_NE(session, nullptr);
  reports_->Lines(2);
  const auto stats = session->GetStats();
  ASSERT_THAT(stats, IsOk());
  ExpectPlausible(*stats);
}

TEST_F(StatsTest, OfAProcessCountItsWholeTree) {
  auto process = runtime_->Spawn({.command = BusyCommand()});
  ASSERT_THAT(process, IsOk());
  reports_->Lines(2);
  const auto stats = (*process)->GetStats();
  ASSERT_THAT(stats, IsOk());
  ExpectPlausible(*stats);
  ASSERT_THAT((*process)->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_THAT((*process)->GetStats(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(StatsTest, OfASessionCountItsExecs) {
  auto session = Create({.name = "quiet", .command = Command::Argv({"cat"})});
  ASSERT_NE(session, nullptr);
  const auto before = session->GetStats();
  ASSERT_THAT(before, IsOk());
  EXPECT_EQ(before->processes, 1);
  EXPECT_LT(before->cpu, kCpu);
  auto process = session->Exec({.command = BusyCommand()});
  ASSERT_THAT(process, IsOk());
  reports_->Lines(2);
  const auto with = session->GetStats();
  ASSERT_THAT(with, IsOk());
  EXPECT_GE(with->cpu, kCpu - absl::Milliseconds(20));
  EXPECT_GE(with->memory_bytes, kBytes);
  EXPECT_GE(with->processes, 4);
}

}  // namespace
}  // namespace berth
