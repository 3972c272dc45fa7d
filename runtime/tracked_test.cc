#include "runtime/tracked.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"

namespace berth {
namespace {

// The kernel tells nobody when a process falls asleep, so this looks until it has.
void AwaitState(const Identity& identity, ProcessState state) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (Track(identity).state != state && absl::Now() < deadline) sched_yield();
  EXPECT_EQ(Track(identity).state, state) << ProcessStateName(Track(identity).state);
}

// A child that sleeps, in the state that a test needs.
class Tracked : public testing::Test {
 protected:
  void SetUp() override {
    child_ = fork();
    if (child_ == 0) {
      while (true) pause();
    }
    auto identity = IdentifyProcess(child_);
    ASSERT_TRUE(identity.ok()) << identity.status();
    identity_ = *identity;
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  pid_t child_ = 0;
  Identity identity_;
};

TEST_F(Tracked, ItselfRunsAndUsesTimeAndMemory) {
  volatile unsigned work = 0;
  for (unsigned i = 0; i < 50000000; ++i) work = work + i;
  const TrackedProcess self = Track(*IdentifySelf());
  EXPECT_EQ(self.state, ProcessState::kRunning) << ProcessStateName(self.state);
  EXPECT_GT(self.cpu, absl::ZeroDuration());
  EXPECT_GT(self.memory_bytes, 100000);
}

TEST_F(Tracked, AStoppedOneAZombieAndOneThatIsGone) {
  ASSERT_EQ(kill(child_, SIGSTOP), 0);
  ASSERT_EQ(waitpid(child_, nullptr, WUNTRACED), child_);
  EXPECT_EQ(Track(identity_).state, ProcessState::kStopped);
  ASSERT_EQ(kill(child_, SIGKILL), 0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(Track(identity_).state, ProcessState::kZombie);
  ASSERT_EQ(waitpid(child_, nullptr, 0), child_);
  EXPECT_EQ(Track(identity_).state, ProcessState::kNotFound);
}

TEST_F(Tracked, OneThatWaitsSleeps) { AwaitState(identity_, ProcessState::kInterruptibleSleep); }

TEST_F(Tracked, OneThatIsTracedIsInATracingStop) {
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child_, nullptr, nullptr), 0);
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child_, nullptr, nullptr), 0);
  ASSERT_EQ(waitpid(child_, nullptr, __WALL), child_);
  EXPECT_EQ(Track(identity_).state, ProcessState::kTracingStop);
  EXPECT_EQ(ptrace(PTRACE_DETACH, child_, nullptr, nullptr), 0);
}

// Whoever calls vfork sleeps so until its child is gone or another program (kernel/fork.c).
TEST(TrackedUninterruptible, IsTheParentOfAVfork) {
  int hold[2];
  ASSERT_EQ(pipe2(hold, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(hold[1]);
    // By number: a sanitizer makes a fork of vfork().
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
      char byte;
      (void)!read(hold[0], &byte, 1);  // until the test closes its end
      _exit(0);
    }
    _exit(0);
  }
  close(hold[0]);
  AwaitState(*IdentifyProcess(parent), ProcessState::kUninterruptibleSleep);
  close(hold[1]);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
}

// Of the kernel's own threads, where they can be seen.
TEST(TrackedIdle, IsAThreadOfTheKernelThatHasNothingToDo) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    int pid;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream file(entry.path() / "stat");
    const std::string stat(std::istreambuf_iterator<char>(file), {});
    const size_t end = stat.rfind(") ");
    if (end == std::string::npos || stat[end + 2] != 'I') continue;
    const absl::StatusOr<Identity> identity = IdentifyProcess(pid);
    if (!identity.ok()) continue;
    const TrackedProcess thread = Track(*identity);
    if (thread.state != ProcessState::kIdle) continue;  // it got something to do
    EXPECT_EQ(thread.memory_bytes, 0);
    ++found;
  }
  if (found == 0) GTEST_SKIP() << "no thread of the kernel is seen in this pid namespace";
}

TEST_F(Tracked, APidThatIsAnothersNowIsNotFound) {
  Identity before = identity_;
  --before.start_time;
  EXPECT_EQ(Track(before).state, ProcessState::kNotFound);
  before = identity_;
  before.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(Track(before).state, ProcessState::kNotFound);
  EXPECT_EQ(Track(Identity()).state, ProcessState::kUnknown);
}

TEST(ProcessState, EveryLetterOfProcHasAName) {
  const std::string letters = "RSDTtZXIPW";
  for (char letter : letters) EXPECT_NE(ProcessStateOf(letter), ProcessState::kUnknown) << letter;
  EXPECT_EQ(ProcessStateOf('?'), ProcessState::kUnknown);
  for (int state = 0; state <= 11; ++state) {
    const bool named = ProcessStateName(static_cast<ProcessState>(state)) != "unknown";
    EXPECT_EQ(named, state != 0);
  }
}

}  // namespace
}  // namespace berth
