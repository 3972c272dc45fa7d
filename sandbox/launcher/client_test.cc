#include "sandbox/launcher/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
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
#include "sandbox/launcher/forked.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/protocol.h"

namespace berth::launcher {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

// By whether the launcher is a copy of this process.
class ClientTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) forked_.emplace(nullptr);
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

  std::optional<ForkedLauncher> forked_;
  std::unique_ptr<LauncherClient> client_;
  UniqueFd null_;
};

INSTANTIATE_TEST_SUITE_P(Launchers, ClientTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Forked" : "Executed"; });

TEST_P(ClientTest, TellsTheExitCode) {
  auto spawned = client_->Spawn(Request({"sh", "-c", "exit 7"}));
  ASSERT_THAT(spawned, IsOk());
  const ExitNotice notice = WaitExit(*spawned);
  EXPECT_EQ(notice.code, 7);
  EXPECT_EQ(notice.signal, 0);
  WaitGone(*spawned);
}

TEST_P(ClientTest, TellsASignalAsASignal) {
  auto spawned = client_->Spawn(Request({"sh", "-c", "kill -9 $$"}));
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(WaitExit(*spawned).signal, SIGKILL);
}

TEST_P(ClientTest, NamesTheStepThatFailed) {
  EXPECT_THAT(client_->Spawn(Request({"no-such-program"})),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
  EXPECT_THAT(client_->Spawn(Request({"/etc/passwd"})),
              StatusIs(absl::StatusCode::kPermissionDenied));
  SpawnRequest request = Request({"true"});
  request.cwd = "/no/such/place";
  EXPECT_THAT(client_->Spawn(request),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/place")));
}

TEST_P(ClientTest, PassesLargeArgumentsAndRefusesTooLargeOnes) {
  SpawnRequest request = Request({"sh", "-c", "test ${#1} = 100000 && test ${#2} = 100000", "sh",
                                  std::string(100000, 'x'), std::string(100000, 'y')});
  auto spawned = client_->Spawn(request);
  ASSERT_THAT(spawned, IsOk());
  EXPECT_EQ(WaitExit(*spawned).code, 0);
  // One argument alone may not be longer than 128 KiB on Linux.
  EXPECT_THAT(client_->Spawn(Request({"true", std::string(200000, 'x')})),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_P(ClientTest, GivesTheProgramNoDescriptorOfTheHelperOrTheHost) {
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

TEST_P(ClientTest, EndsWhatTheMainProcessLeftBehind) {
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

TEST_P(ClientTest, StopKillsAfterTheGraceWhatIgnoresTerm) {
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

TEST_P(ClientTest, TheHostSeesNoChildAndNoSignal) {
  auto spawned = client_->Spawn(Request({"true"}));
  ASSERT_THAT(spawned, IsOk());
  WaitGone(*spawned);
  // A copy is a child, which nobody else waits for. Under a sanitizer there is none.
  const bool copy = waitpid(client_->pid(), nullptr, WNOHANG) == 0;
  EXPECT_TRUE(GetParam() || !copy);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), copy ? 0 : -1);
  if (!copy) {
    EXPECT_EQ(errno, ECHILD);
  }
  sigset_t pending;
  sigpending(&pending);
  EXPECT_FALSE(sigismember(&pending, SIGCHLD));
}

TEST_P(ClientTest, ManyThreadsGetTheirOwnAnswers) {
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

TEST_P(ClientTest, OfManyThatEndAtOnceEachIsTold) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reads(pipe_fds[0]), writes(pipe_fds[1]);
  std::vector<Spawned> all;
  for (int i = 0; i < 100; ++i) {
    SpawnRequest request = Request({"sh", "-c", absl::StrCat("read x; exit ", i)});
    request.stdio[0] = reads.get();
    auto spawned = client_->Spawn(request);
    ASSERT_THAT(spawned, IsOk());
    all.push_back(*std::move(spawned));
  }
  // So that it hears of one signal for all of them.
  ASSERT_EQ(kill(client_->pid(), SIGSTOP), 0);
  writes.reset();
  for (const Spawned& spawned : all) {
    EXPECT_THAT(WaitFd(spawned.pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end"),
                IsOk());
  }
  ASSERT_EQ(kill(client_->pid(), SIGCONT), 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(WaitExit(all[static_cast<size_t>(i)]).code, i);
    WaitGone(all[static_cast<size_t>(i)]);
  }
}

// It can be waited for only once the tracer has seen it, and looking for that must not go on and
// on.
TEST_P(ClientTest, AnEndThatATracerKeepsBackCostsNoTime) {
  auto spawned = client_->Spawn(Request({"sleep", "1000"}));
  ASSERT_THAT(spawned, IsOk());
  ASSERT_EQ(ptrace(PTRACE_SEIZE, spawned->pid, nullptr, nullptr), 0) << strerror(errno);
  ASSERT_EQ(PidfdSignal(spawned->pidfd.get(), SIGKILL), 0);
  ASSERT_THAT(WaitFd(spawned->pidfd.get(), POLLIN, absl::Now() + absl::Seconds(20), "its end"),
              IsOk());
  const auto processor_time = [&] {
    std::ifstream file(absl::StrCat("/proc/", client_->pid(), "/schedstat"));
    int64_t ns = -1;
    file >> ns;
    return absl::Nanoseconds(ns);
  };
  const absl::Duration before = processor_time();
  EXPECT_THAT(WaitFd(spawned->exit_socket.get(), POLLIN, absl::Now() + absl::Seconds(1), "exit"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_LT(processor_time() - before, absl::Milliseconds(200));
  EXPECT_EQ(waitpid(spawned->pid, nullptr, __WALL), spawned->pid);
  EXPECT_EQ(WaitExit(*spawned).signal, SIGKILL);
  WaitGone(*spawned);
}

TEST_P(ClientTest, EverythingEndsWithTheClient) {
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

TEST_P(ClientTest, StartsKeepers) {
  auto keeper = client_->StartKeeper("test");
  ASSERT_THAT(keeper, IsOk());
  // It runs, and goes when its owner does.
  EXPECT_THAT(WaitFd(keeper->get(), POLLRDHUP, absl::Now(), "its end"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  shutdown(keeper->get(), SHUT_WR);
  EXPECT_THAT(WaitFd(keeper->get(), POLLRDHUP, absl::Now() + absl::Seconds(20), "its end"), IsOk());
}

TEST_P(ClientTest, WhatWasExpectedIsMadeOnceAndNotLeft) {
  client_->Expect({.memory_bytes = 64 << 20, .pids = 16}, /*encloses=*/true);
  client_->Expect({.memory_bytes = 65 << 20, .pids = 17}, /*encloses=*/true);
  auto spawned = client_->Spawn(Request({"true"}));
  ASSERT_THAT(spawned, IsOk());
  WaitGone(*spawned);
  const std::string name = absl::StrCat("-", client_->pid(), "-");
  client_.reset();
  // Those of others come and go.
  std::error_code error;
  namespace fs = std::filesystem;
  for (const fs::directory_entry& tree : fs::directory_iterator("/sys/fs/cgroup")) {
    for (fs::directory_iterator group(tree, error), end; !error && group != end;
         group.increment(error)) {
      EXPECT_THAT(group->path().filename().string(), Not(HasSubstr(name)));
    }
  }
}

TEST_P(ClientTest, AnEndWithoutViolationsSaysSo) {
  auto spawned = client_->Spawn(Request({"true"}));
  ASSERT_THAT(spawned, IsOk());
  WaitGone(*spawned);
  int waiting = 0;
  ASSERT_EQ(ioctl(spawned->exit_socket.get(), FIONREAD, &waiting), 0);
  EXPECT_EQ(waiting, static_cast<int>(sizeof(ExitNotice) + sizeof(kNothingStopped)));
}

TEST(ForkedLauncher, GoesIfNobodyTakesIt) {
  {
    const ForkedLauncher unused(nullptr);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

// A Ctrl-C in the first milliseconds of a command took its launcher away.
TEST(ForkedLauncher, HearsNoSignalOfItsHostsGroup) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]);
  UniqueFd writes(fds[1]);
  const pid_t host = fork();
  if (host == 0) {
    setpgid(0, 0);
    signal(SIGINT, SIG_IGN);
    [[maybe_unused]] const ssize_t n = write(writes.get(), "r", 1);
    for (int i = 0; i < 50; ++i) {
      ForkedLauncher forked(nullptr);
      if (!LauncherClient::Start("test").ok()) _exit(1);
    }
    _exit(0);
  }
  writes.reset();
  char ready;
  ASSERT_EQ(read(reads.get(), &ready, 1), 1);
  int status = -1;
  // The group of our own child, whose number stays its until it is reaped here. Without a pause:
  // the moments that count are short.
  while (waitpid(host, &status, WNOHANG) == 0) kill(-host, SIGINT);
  EXPECT_EQ(status, 0);
}

TEST(ForkedLauncher, IsTakenOnce) {
  ForkedLauncher forked(nullptr);
  auto first = LauncherClient::Start("test"), second = LauncherClient::Start("test");
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_NE((*first)->pid(), (*second)->pid());
}

}  // namespace
}  // namespace berth::launcher
