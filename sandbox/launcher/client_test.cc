#include "sandbox/launcher/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::launcher {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    auto client = LauncherClient::Start("test");
    ASSERT_THAT(client, IsOk());
    client_ = *std::move(client);
    null_ = UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  SpawnRequest Request(std::vector<std::string> argv) {
    SpawnRequest request;
    request.argv = std::move(argv);
    request.env = {"PATH=/usr/bin:/bin"};
    request.cwd = "/";
    for (int& fd : request.stdio) fd = null_.get();
    return request;
  }
  static ExitNotice WaitExit(const Spawned& spawned) {
    ExitNotice notice;
    EXPECT_THAT(WaitFd(spawned.exit_socket.get(), POLLIN, absl::Now() + absl::Seconds(20), "exit"),
                IsOk());
    EXPECT_EQ(recv(spawned.exit_socket.get(), &notice, sizeof(notice), MSG_PEEK),
              ssize_t{sizeof(notice)});
    return notice;
  }
  static void WaitGone(const Spawned& spawned) {
    EXPECT_THAT(
        WaitFd(spawned.exit_socket.get(), POLLRDHUP, absl::Now() + absl::Seconds(20), "gone"),
        IsOk());
  }

  std::unique_ptr<LauncherClient> client_;
  UniqueFd null_;
};

TEST_F(ClientTest, TellsTheExitCode) {
  auto spawned = client_->Spawn(Request({"sh", "-c", "exit 7"}));
  ASSERT_THAT(spawned, IsOk());
  const ExitNotice notice = WaitExit(*spawned);
  EXPECT_EQ(notice.code, 7);
  EXPECT_EQ(notice.signal, 0);
  WaitGone(*spawned);
}

TEST_F(ClientTest, TellsASignalAsASignal) {
  auto spawned = client_->Spawn(Request({"sh", "-c", "kill -9 $$"}));
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(WaitExit(*spawned).signal, SIGKILL);
}

TEST_F(ClientTest, NamesTheStepThatFailed) {
  EXPECT_THAT(client_->Spawn(Request({"no-such-program"})),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
  EXPECT_THAT(client_->Spawn(Request({"/etc/passwd"})),
              StatusIs(absl::StatusCode::kPermissionDenied));
  SpawnRequest request = Request({"true"});
  request.cwd = "/no/such/place";
  EXPECT_THAT(client_->Spawn(request),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/place")));
}

TEST_F(ClientTest, PassesLargeArgumentsAndRefusesTooLargeOnes) {
  SpawnRequest request = Request({"sh", "-c", "test ${#1} = 100000 && test ${#2} = 100000", "sh",
                                  std::string(100000, 'x'), std::string(100000, 'y')});
  auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(WaitExit(*spawned).code, 0);
  // One argument alone may not be longer than 128 KiB on Linux.
  EXPECT_THAT(client_->Spawn(Request({"true", std::string(200000, 'x')})),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(ClientTest, GivesTheProgramNoDescriptorOfTheHelperOrTheHost) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);  // on purpose without O_CLOEXEC
  UniqueFd reads(pipe_fds[0]), writes(pipe_fds[1]);
  SpawnRequest request = Request({"sh", "-c", "ls /proc/self/fd | tr '\\n' ' '"});
  request.stdio[1] = writes.get();
  auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  WaitGone(*spawned);
  char text[256] = {};
  ASSERT_GT(read(reads.get(), text, sizeof(text) - 1), 0);
  EXPECT_EQ(std::string(text), "0 1 2 3 ");  // 3 is ls's own, for the directory
}

TEST_F(ClientTest, EndsWhatTheMainProcessLeftBehind) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reads(pipe_fds[0]), writes(pipe_fds[1]);
  // The sleeper holds the pipe: its end of file shows that it is gone.
  SpawnRequest request = Request({"sh", "-c", "setsid setsid sleep 1000 & echo started"});
  request.stdio[1] = writes.get();
  auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  writes.reset();
  EXPECT_EQ(WaitExit(*spawned).code, 0);
  WaitGone(*spawned);
  char text[64];
  EXPECT_EQ(read(reads.get(), text, sizeof(text)), 8);
  EXPECT_THAT(WaitFd(reads.get(), POLLIN, absl::Now(), "end of file"), IsOk());
  EXPECT_EQ(read(reads.get(), text, sizeof(text)), 0);
}

TEST_F(ClientTest, StopKillsAfterTheGraceWhatIgnoresTerm) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reads(pipe_fds[0]), writes(pipe_fds[1]);
  SpawnRequest request =
      Request({"sh", "-c", "trap '' TERM HUP INT; echo ready; while :; do sleep 1000; done"});
  request.stdio[1] = writes.get();
  auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  char text[64];
  ASSERT_EQ(read(reads.get(), text, sizeof(text)), 6);
  ASSERT_THAT(client_->Stop(spawned->pid, 50), IsOk());
  const ExitNotice notice = WaitExit(*spawned);
  EXPECT_EQ(notice.signal, SIGKILL);
  EXPECT_EQ(notice.stopped, 1);
  WaitGone(*spawned);
}

TEST_F(ClientTest, TheHostSeesNoChildAndNoSignal) {
  auto spawned = client_->Spawn(Request({"true"}));
  ASSERT_THAT(spawned, IsOk());
  WaitGone(*spawned);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGCHLD));
}

TEST_F(ClientTest, ManyThreadsGetTheirOwnAnswers) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 25; ++i) {
        auto spawned = client_->Spawn(Request({"sh", "-c", absl::StrCat("exit ", t * 25 + i)}));
        ASSERT_THAT(spawned, IsOk());
        EXPECT_EQ(WaitExit(*spawned).code, t * 25 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ClientTest, EverythingEndsWithTheClient) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reads(pipe_fds[0]), writes(pipe_fds[1]);
  for (int i = 0; i < 10; ++i) {
    SpawnRequest request =
        Request({"sh", "-c", "trap '' TERM; sleep 1000 & setsid sleep 1000 & wait"});
    request.stdio[1] = writes.get();
    ASSERT_THAT(client_->Spawn(request), IsOk());
  }
  writes.reset();
  client_.reset();
  char text[8];
  ASSERT_THAT(WaitFd(reads.get(), POLLIN, absl::Now(), "end of file"), IsOk());
  EXPECT_EQ(read(reads.get(), text, sizeof(text)), 0);
}

}  // namespace
}  // namespace berth::launcher
