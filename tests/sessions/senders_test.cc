// Scenario 7: many senders at once. Scenario 8: senders that give up or die in the middle.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Senders : public RuntimeTest, public testing::WithParamInterface<bool> {
 protected:
  void Start(std::vector<std::string> argv) {
    auto session = runtime_->CreateSession(
        {.name = "sink", .command = Command::Argv(std::move(argv)), .pty = GetParam()});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
    auto output = session_->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    output_ = std::move(output->fd);
    ReadUntil(output_.get(), "ready");
  }
  // A program that reads nothing until Read().
  void StartLate() {
    fifo_ = work_ + "/fifo";
    file_ = work_ + "/input";
    ASSERT_EQ(mkfifo(fifo_.c_str(), 0600), 0);
    Start({ProbePath(), "late", fifo_, file_});
  }
  std::string Read() {
    const UniqueFd go(open(fifo_.c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_TRUE(go.ok());
    EXPECT_THAT(session_->Send({.text = kEnd, .submit = ""}), IsOk());
    ReadUntil(output_.get(), "done");
    return FileBytes(file_);
  }
  // Messages carry a number in front and at the end, so that a torn or a second one is seen.
  static std::string Numbered(int number, size_t size) {
    return absl::StrCat("<", number, ":", Pattern(size, static_cast<unsigned>(number)), ":", number,
                        ">");
  }
  // The numbers of the messages that `bytes` consist of; -1 where something is no whole message.
  static std::vector<int> Numbers(absl::string_view bytes,
                                  const std::vector<std::pair<int, size_t>>& sent) {
    std::vector<int> numbers;
    while (!bytes.empty()) {
      bool found = false;
      for (const auto& [number, size] : sent) {
        if (!absl::StartsWith(bytes, absl::StrCat("<", number, ":"))) continue;
        const std::string whole = Numbered(number, size);
        if (!absl::StartsWith(bytes, whole)) break;
        bytes.remove_prefix(whole.size());
        numbers.push_back(number);
        found = true;
        break;
      }
      if (!found) {
        numbers.push_back(-1);
        break;
      }
    }
    return numbers;
  }
  // A process of its own that sends and waits; killed after `delay`, counted from when it is about
  // to send.
  void SendAndDie(const std::string& text, absl::Duration delay) {
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
    const UniqueFd reads(fds[0]);
    UniqueFd writes(fds[1]);
    const pid_t pid = fork();
    if (pid == 0) {
      if (write(writes.get(), "s", 1) != 1) _exit(1);
      const bool ok =
          session_->Send({.text = text, .submit = ""}, absl::Now() + absl::Seconds(60)).ok();
      _exit(ok ? 0 : 1);
    }
    ASSERT_GT(pid, 0);
    const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    ASSERT_THAT(WaitFd(reads.get(), POLLIN, Soon(), "sender starts"), IsOk());
    WaitFd(pidfd.get(), POLLIN, absl::Now() + delay, "sender ends").IgnoreError();
    kill(pid, SIGKILL);
    int status;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it was not in the middle: " << status;
  }

  std::string fifo_, file_;
  std::unique_ptr<Session> session_;
  UniqueFd output_;
};
INSTANTIATE_TEST_SUITE_P(Streams, Senders, testing::Bool(),
                         [](const auto& param) { return param.param ? "Terminal" : "Pipes"; });

TEST_P(Senders, FiftyThreadsDoNotInterleave) {
  constexpr int kThreads = 50, kEach = 10;
  file_ = work_ + "/input";
  ASSERT_NO_FATAL_FAILURE(Start({ProbePath(), "sink", file_}));
  std::vector<std::pair<int, size_t>> sent;
  for (int i = 0; i < kThreads * kEach; ++i)
    sent.emplace_back(i, 100 + static_cast<size_t>(i) * 37 % 9000);
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t * kEach; i < (t + 1) * kEach; ++i) {
        if (!session_
                 ->Send({.text = Numbered(i, sent[static_cast<size_t>(i)].second), .submit = ""})
                 .ok())
          ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(session_->Send({.text = kEnd, .submit = ""}), IsOk());
  ReadUntil(output_.get(), "done");
  const std::vector<int> numbers = Numbers(FileBytes(file_), sent);
  std::vector<int> next(kThreads, 0);
  for (const int number : numbers) {
    ASSERT_GE(number, 0) << "torn";
    // Each sender's own messages come in its order.
    EXPECT_EQ(number % kEach, next[static_cast<size_t>(number / kEach)]++);
  }
  EXPECT_EQ(numbers.size(), sent.size());
}

TEST_P(Senders, AProgramThatNeverReadsDoesNotSlowTheOthers) {
  ASSERT_NO_FATAL_FAILURE(Start({ProbePath(), "mute"}));
  std::atomic<bool> returned = false;
  std::vector<std::thread> stuck;
  for (int i = 0; i < 4; ++i) {
    stuck.emplace_back([&] {
      session_->Send({.text = Pattern(2 << 20), .submit = ""}, absl::Now() + absl::Seconds(60))
          .IgnoreError();
      returned = true;
    });
  }
  auto other = runtime_->CreateSession(
      {.name = "other", .command = Command::Argv({"cat"}), .pty = GetParam()});
  ASSERT_THAT(other, IsOk());
  auto output = (*other)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  const absl::Time start = absl::Now();
  for (int i = 0; i < 100; ++i) {
    const std::string text = absl::StrCat("<", i, ">");
    EXPECT_THAT((*other)->Send({.text = text}), IsOkAndHolds(Delivery::kSubmitted));
    ReadUntil(output->fd.get(),
              GetParam() ? absl::StrCat(text, "\r\n", text, "\r\n") : absl::StrCat(text, "\n"));
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_FALSE(returned);
  // The stuck one itself still answers what is not input.
  EXPECT_EQ(session_->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_THAT(session_->Capture({}), IsOk());
  EXPECT_THAT(session_->Stop(absl::ZeroDuration()), IsOk());
  for (std::thread& thread : stuck) thread.join();
}

TEST_P(Senders, ADeadlineThatPassesHasSentNothingAndARetryIsTheOnlyOne) {
  ASSERT_NO_FATAL_FAILURE(StartLate());
  constexpr size_t kBig = 3 << 20;
  EXPECT_THAT(session_->Send({.text = Numbered(1, kBig), .submit = "", .await = Delivery::kQueued}),
              IsOkAndHolds(Delivery::kQueued));
  for (const absl::Duration wait :
       {absl::ZeroDuration(), absl::Milliseconds(1), absl::Milliseconds(30), -absl::Seconds(1)}) {
    EXPECT_THAT(session_->Send({.text = Numbered(2, 1000), .submit = ""}, absl::Now() + wait),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("nothing was sent")));
  }
  EXPECT_THAT(session_->Send({.text = Numbered(2, 1000), .submit = "", .await = Delivery::kQueued}),
              IsOk());
  EXPECT_THAT(Numbers(Read(), {{1, kBig}, {2, 1000}}), ElementsAre(1, 2));
}

TEST_P(Senders, ADeadlineThatPassesInTheMiddleIsToldAsQueuedAndTheRestFollows) {
  ASSERT_NO_FATAL_FAILURE(StartLate());
  constexpr size_t kBig = 3 << 20;
  // On a machine that is busy it may pass before the first byte: then nothing was sent.
  absl::StatusOr<Delivery> sent = absl::DeadlineExceededError("");
  for (absl::Duration limit = absl::Milliseconds(50);
       absl::IsDeadlineExceeded(sent.status()) && limit < absl::Seconds(30); limit *= 2) {
    sent = session_->Send({.text = Numbered(1, kBig), .submit = ""}, absl::Now() + limit);
  }
  EXPECT_THAT(sent, IsOkAndHolds(Delivery::kQueued));
  EXPECT_THAT(Numbers(Read(), {{1, kBig}}), ElementsAre(1));
}

TEST_P(Senders, OneThatIsKilledHasSentAllOrNothing) {
  ASSERT_NO_FATAL_FAILURE(StartLate());
  constexpr size_t kBig = 2 << 20;
  // The first of them is begun by the time the others come, as a rule, so they have to wait.
  std::vector<std::pair<int, size_t>> sent;
  for (int i = 0; i < 16; ++i) {
    sent.emplace_back(i, kBig);
    SendAndDie(Numbered(i, kBig), i == 0 ? absl::Milliseconds(200) : absl::Microseconds(300) * i);
  }
  sent.emplace_back(100, 1000);
  EXPECT_THAT(
      session_->Send({.text = Numbered(100, 1000), .submit = "", .await = Delivery::kQueued}),
      IsOk());
  const std::vector<int> numbers = Numbers(Read(), sent);
  ASSERT_FALSE(numbers.empty());
  EXPECT_EQ(numbers.back(), 100);
  for (size_t i = 1; i < numbers.size(); ++i)
    EXPECT_GT(numbers[i], numbers[i - 1]) << "torn, doubled or out of order";
}

}  // namespace
}  // namespace berth
