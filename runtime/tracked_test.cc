#include "runtime/tracked.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/record/identity.h"

namespace berth {
namespace {

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
