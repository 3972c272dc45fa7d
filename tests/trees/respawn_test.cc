// Scenario 12: one name, killed and started again at once, over and over: never two at once.

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
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

// Has the lock as long as it or its daemon lives; says so if another has it.
int Single(const std::vector<std::string>& args) {
  const int fd = open(args[0].c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
    Report(args[1], "two at once");
    return 9;
  }
  // The lock is of the open file: the daemon has it too, and is deaf besides.
  if (fork() == 0) {
    setsid();
    for (int each : {SIGTERM, SIGHUP}) signal(each, SIG_IGN);
    Report(args[1], "one");
    StayForever();
  }
  StayForever();
}

const Actor kSingle("single", &Single);

class Respawn : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    reports_ = std::make_unique<Fifo>(Path("reports"));
  }
  Command SingleCommand() {
    return Command::Argv(ActorCommand({"single", Path("lock"), reports_->path()}));
  }
  std::unique_ptr<Fifo> reports_;
};

constexpr int kRounds = 1000;

TEST_F(Respawn, OfASessionNeverRunsTwoAtOnce) {
  for (int round = 0; round < kRounds; ++round) {
    auto session = runtime_->CreateSession({.name = "same", .command = SingleCommand()});
    ASSERT_THAT(session, IsOk()) << round;
    ASSERT_EQ(reports_->Line(), "one") << round;
    ASSERT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk()) << round;
  }
  EXPECT_TRUE(reports_->Quiet());
}

TEST_F(Respawn, OfAProcessNeverRunsTwoAtOnce) {
  for (int round = 0; round < kRounds; ++round) {
    auto process = runtime_->Spawn({.command = SingleCommand()});
    ASSERT_THAT(process, IsOk()) << round;
    ASSERT_EQ(reports_->Line(), "one") << round;
    // Every other one by the end of its object alone.
    if (round % 2 == 0) {
      ASSERT_THAT((*process)->Stop(absl::ZeroDuration()), IsOk()) << round;
    }
  }
  EXPECT_TRUE(reports_->Quiet());
}

// Several orchestrators that all keep one session alive by the same rule: if it is not there, make
// it.
TEST_F(Respawn, ByManyAtOnceNeverRunsTwo) {
  std::atomic<int> made = 0;
  const absl::Time end = absl::Now() + absl::Seconds(10);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto own = OtherRuntime();
      while (made < 40 && absl::Now() < end) {
        auto session = own->CreateSession({.name = "same", .command = SingleCommand()});
        if (session.ok()) {
          ++made;
          const absl::Status destroyed = (*session)->Destroy(absl::ZeroDuration());
          EXPECT_THAT(destroyed, IsOk());
          if (!destroyed.ok()) return;
        } else {
          EXPECT_EQ(session.status().code(), absl::StatusCode::kAlreadyExists) << session.status();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(made, 2);
  RecordProperty("made", made);
  while (!reports_->Quiet()) ASSERT_EQ(reports_->Line(), "one");
}

}  // namespace
}  // namespace berth
