// Sandboxes that are made at once: none waits for another, and each is answered for itself.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
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
using ::absl_testing::StatusIs;
using Kind = launcher::SandboxMount::Kind;

constexpr absl::Duration kSoon = absl::Seconds(20);

// A start that does not come further than its carve-outs: another sandbox seems to be removing its
// placeholders there (sandbox/launcher/enter/placeholder.h).
class HeldUp {
 public:
  explicit HeldUp(const std::string& folder)
      : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    EXPECT_EQ(Lock(F_OFD_SETLK, F_RDLCK, 1).l_type, F_RDLCK);
  }
  void LetGo() {
    Lock(F_OFD_SETLK, F_UNLCK, 1);
    folder_.reset();
  }
  // Whether somebody has said that it needs what is there.
  bool Needed() const { return Lock(F_OFD_GETLK, F_WRLCK, 0).l_type != F_UNLCK; }

 private:
  struct flock Lock(int command, int16_t type, off_t byte) const {
    struct flock lock{};
    lock.l_type = type;
    lock.l_start = byte;
    lock.l_len = 1;
    EXPECT_EQ(fcntl(folder_.get(), command, &lock), 0);
    return lock;
  }
  UniqueFd folder_;
};

class TogetherTest : public EnclosedTest {
 protected:
  launcher::SandboxPlan Carving() const {
    launcher::SandboxPlan plan = Plan();
    for (const char* name : {".bashrc", ".git/hooks", ".git/config", ".profile"}) {
      plan.mounts.push_back({.kind = Kind::kCarve, .target = Path(name)});
    }
    return plan;
  }
  // Begins one in a thread, which is joined by the end of this.
  struct Begun {
    std::thread thread;
    absl::Notification done;
    absl::StatusOr<launcher::Spawned> spawned;
    ~Begun() { thread.join(); }
  };
  std::unique_ptr<Begun> Begin(const launcher::SandboxPlan& plan) {
    auto begun = std::make_unique<Begun>();
    begun->thread = std::thread([this, plan, begun = begun.get()] {
      begun->spawned = Start(plan, {"/bin/true"}, "/", -1, -1);
      begun->done.Notify();
    });
    return begun;
  }
  // It has come to the carve-out once its init has said so. Others' starts are what passes the
  // time.
  void Await(const HeldUp& held) {
    for (int tries = 0; tries < 10000; ++tries) {
      if (held.Needed()) return;
      ASSERT_EQ(Shell(Plan(), "exit 3").exit.code, 3);
    }
    FAIL() << "nobody waits";
  }
};

TEST_F(TogetherTest, OneThatIsHeldUpHoldsUpNobody) {
  HeldUp held(work_);
  const auto first = Begin(Carving());
  Await(held);
  EXPECT_EQ(Shell(Plan(), "exit 4").exit.code, 4);
  EXPECT_EQ(Shell(LandlockPlan(), "exit 5").exit.code, 5);
  EXPECT_FALSE(first->done.HasBeenNotified());
  held.LetGo();
  ASSERT_TRUE(first->done.WaitForNotificationWithTimeout(kSoon));
  ASSERT_THAT(first->spawned, IsOk());
  EXPECT_EQ(AwaitEnd(*first->spawned).code, 0);
  AwaitGone(*first->spawned);
  EXPECT_TRUE(fs::is_empty(work_));
}

TEST_F(TogetherTest, OneThatFailsIsToldOnceNothingOfItIsLeft) {
  launcher::SandboxPlan failing = Carving();
  failing.mounts.push_back({.kind = Kind::kCarve, .target = Path("trap/hooks")});
  fs::create_symlink("/etc", Path("trap"));
  std::vector<std::unique_ptr<Begun>> begun;
  for (int i = 0; i < 8; ++i) begun.push_back(Begin(i % 2 == 0 ? failing : Plan()));
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(begun[i]->done.WaitForNotificationWithTimeout(kSoon));
    EXPECT_EQ(begun[i]->spawned.ok(), i % 2 != 0) << begun[i]->spawned.status();
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(Path(".bashrc"))));
}

TEST_F(TogetherTest, OneThatIsBeingMadeWhenItsLauncherIsKilledFails) {
  HeldUp held(work_);
  const auto first = Begin(Carving());
  Await(held);
  ASSERT_EQ(kill(client_->pid(), SIGKILL), 0);
  ASSERT_TRUE(first->done.WaitForNotificationWithTimeout(kSoon));
  EXPECT_THAT(first->spawned, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TogetherTest, OneThatIsBeingMadeWhenItsHostIsKilledLeavesNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reads(ends[0]);
    UniqueFd writes(ends[1]);
    const pid_t host = fork();
    if (host == 0) {
      auto client = launcher::LauncherClient::Start("test");
      if (!client.ok()) _exit(1);
      client_.release();  // NOLINT: the parent's
      client_ = *std::move(client);
      const pid_t pid = client_->pid();
      if (write(writes.get(), &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
      while (Start(Carving(), {"/bin/true"}, "/", -1, -1).ok()) continue;
      _exit(1);
    }
    pid_t helper = 0;
    ASSERT_EQ(read(reads.get(), &helper, sizeof(helper)), ssize_t{sizeof(helper)});
    const UniqueFd ends_then(launcher::PidfdOpen(helper)), hosts(launcher::PidfdOpen(host));
    // Anywhere in its starts.
    pollfd ended{hosts.get(), POLLIN, 0};
    const timespec moment{0, static_cast<long>(random() % 8'000'000)};
    ASSERT_EQ(ppoll(&ended, 1, &moment, nullptr), 0) << round;
    kill(host, SIGKILL);
    ASSERT_EQ(waitpid(host, nullptr, 0), host);
    ASSERT_THAT(WaitFd(ends_then.get(), POLLIN, absl::Now() + kSoon, "wait for the helper"),
                IsOk());
    ASSERT_TRUE(fs::is_empty(work_)) << round;
  }
}

TEST_F(TogetherTest, ManyGetTheirOwnAnswersHoldTheirCarveOutsAndLeaveNothing) {
  constexpr int kThreads = 16, kEach = 8;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kEach; ++i) {
        const int code = 1 + (t * kEach + i) % 120;
        // Some end while others, in the same workspace, have yet to try.
        const Outcome outcome =
            Shell(Carving(), absl::StrCat("for n in .bashrc .profile .git/hooks .git/config; do ",
                                          "(echo bad >$n) 2>/dev/null && echo wrote $n; done; ",
                                          "mv .git x 2>/dev/null && echo moved .git; echo ", t, ".",
                                          i, "; echo fine >", t, ".", i, "; exit ", code));
        EXPECT_EQ(outcome.exit.code, code);
        EXPECT_EQ(outcome.out, absl::StrCat(t, ".", i, "\n"));
        EXPECT_EQ(Read(absl::StrCat(t, ".", i)), "fine\n");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* name : {".bashrc", ".git", ".profile", "x"}) {
    EXPECT_FALSE(fs::exists(fs::symlink_status(Path(name)))) << name;
  }
}

}  // namespace
}  // namespace berth
