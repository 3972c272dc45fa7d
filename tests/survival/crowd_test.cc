// Scenario 31, without limits: hundreds of short lives leave no zombie, steal no exit status, raise
// no signal.

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

constexpr int kProcesses = 500;
constexpr int kSessions = 100;

// Blocks SIGCHLD, so that one stays to be seen; and takes it away again.
class ChildSignal {
 public:
  ChildSignal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~ChildSignal() {
    Take();
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  // Who sent one; 0 if none came.
  pid_t Take() {
    siginfo_t info{};
    const timespec now{};
    return sigtimedwait(&set_, &info, &now) == SIGCHLD ? info.si_pid : 0;
  }

 private:
  sigset_t set_, old_;
};

using Crowd = TreeTest;

TEST_F(Crowd, OfShortProcessesLeavesNoChildNoZombieAndNoSignal) {
  ChildSignal signal;
  for (int i = 0; i < kProcesses; ++i) {
    auto process =
        runtime_->Spawn({.command = Command::Argv({"sh", "-c", absl::StrCat("exit ", i % 256)})});
    ASSERT_THAT(process, IsOk());
    const auto status = (*process)->Wait(Soon());
    ASSERT_THAT(status, IsOk());
    ASSERT_EQ(status->code, i % 256);
  }
  EXPECT_EQ(signal.Take(), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  // The launcher has reaped them, too: it has the last one or two as children at most.
  for (const pid_t launcher : World::MembersNamed("berth-launcher")) {
    std::ifstream children(absl::StrCat("/proc/", launcher, "/task/", launcher, "/children"));
    const std::vector<pid_t> pids{std::istream_iterator<pid_t>(children),
                                  std::istream_iterator<pid_t>()};
    EXPECT_LT(pids.size(), 10u);
  }
}

TEST_F(Crowd, OfShortSessionsLeavesNoChildNoZombieAndNoSignal) {
  ChildSignal signal;
  for (int i = 0; i < kSessions; ++i) {
    auto session = Create({.name = absl::StrCat("s", i),
                           .command = Command::Shell(absl::StrCat("exit ", i)),
                           .pty = i % 2 == 0,
                           .durable = i % 4 < 2});
    ASSERT_NE(session, nullptr);
    const auto status = session->Wait(Soon());
    ASSERT_THAT(status, IsOk());
    ASSERT_EQ(status->code, i);
    ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  }
  EXPECT_EQ(signal.Take(), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

// The host has children of its own; each is its, and its alone.
TEST_F(Crowd, StealsNoExitStatusOfTheHostsOwnChildren) {
  std::thread crowd([this] {
    for (int i = 0; i < kProcesses / 4; ++i) {
      auto process = runtime_->Spawn({.command = Command::Argv({"true"})});
      ASSERT_THAT(process, IsOk());
      ASSERT_THAT((*process)->Wait(Soon()), IsOk());
    }
  });
  for (int i = 0; i < 100; ++i) {
    ChildSignal signal;
    const pid_t child = fork();
    if (child == 0) _exit(i);
    int status = 0;
    // Any child: there must be none but this one.
    ASSERT_EQ(waitpid(-1, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), i);
    const pid_t sender = signal.Take();
    ASSERT_TRUE(sender == child || sender == 0)
        << sender;  // 0: the other thread got it, and ignored it
  }
  crowd.join();
}

TEST_F(Crowd, ManyThreadsStartAndEndSessionsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 10; ++i) {
        auto session =
            runtime_->CreateSession({.name = absl::StrCat("t", t, "-", i),
                                     .command = Command::Shell("setsid sleep 1000 & exit 3"),
                                     .pty = false,
                                     .durable = i % 2 == 0});
        ASSERT_THAT(session, IsOk());
        const auto status = (*session)->Wait(Soon());
        ASSERT_THAT(status, IsOk());
        EXPECT_EQ(status->code, 3);
        ASSERT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(runtime_->List()->empty());
}

}  // namespace
}  // namespace berth
