// Scenario 16: lines of 15 and 100 MB, then a result: all of it for a reader that is waited for;
// for one that is not, and for one that comes late, what was declared.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/wait_fd.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::EndsWith;

constexpr int64_t kMiB = 1 << 20;

std::string LineOf(int64_t megabytes) {
  return absl::StrCat("read go; head -c ", megabytes * kMiB,
                      " /dev/zero | tr '\\0' x; echo; echo the result; exit 5");
}

// Reads to end of file without keeping it: how many x came, and what else.
struct Tally {
  int64_t xs = 0;
  std::string rest;
};

class LongLines : public RuntimeTest, public testing::WithParamInterface<int64_t> {
 protected:
  static Tally Count(int fd) {
    Tally tally;
    std::string buffer(1 << 20, '\0');
    const absl::Time deadline = absl::Now() + absl::Seconds(50);
    while (true) {
      const absl::Status ready = WaitFd(fd, POLLIN, deadline, "read");
      EXPECT_THAT(ready, IsOk()) << tally.xs;
      if (!ready.ok()) return tally;
      const ssize_t n = read(fd, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return tally;
      for (ssize_t i = 0; i < n; ++i) {
        if (buffer[static_cast<size_t>(i)] == 'x') {
          ++tally.xs;
        } else {
          tally.rest.push_back(buffer[static_cast<size_t>(i)]);
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(MiB, LongLines, testing::Values(15, 100));

TEST_P(LongLines, OfASessionComeWhole) {
  auto session = runtime_->CreateSession(
      {.name = "long", .command = Command::Shell(LineOf(GetParam())), .pty = false});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->begins, 0);
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  const Tally tally = Count(output->fd.get());
  EXPECT_EQ(tally.xs, GetParam() * kMiB);
  EXPECT_EQ(tally.rest, "\nthe result\n");
  EXPECT_EQ((*session)->Wait(Soon())->code, 5);
}

TEST_P(LongLines, OfAProcessComeWhole) {
  auto process = runtime_->Spawn({.command = Command::Shell(LineOf(GetParam()))});
  ASSERT_THAT(process, IsOk());
  const Tally tally = Count((*process)->TakeStdout()->get());
  EXPECT_EQ(tally.xs, GetParam() * kMiB);
  EXPECT_EQ(tally.rest, "\nthe result\n");
}

class OneLongLine : public LongLines {};
INSTANTIATE_TEST_SUITE_P(MiB, OneLongLine, testing::Values(15));

TEST_P(OneLongLine, OfATerminalComesWhole) {
  auto session =
      runtime_->CreateSession({.name = "long", .command = Command::Shell(LineOf(GetParam()))});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = ""}), IsOk());
  const Tally tally = Count(output->fd.get());
  EXPECT_EQ(tally.xs, GetParam() * kMiB);
  EXPECT_EQ(tally.rest, "\r\n\r\nthe result\r\n");
  EXPECT_THAT(*(*session)->Capture({.lines = 1}), "the result\n");
}

using Lag = LongLines;  // without a parameter

// A reader that does not lag misses nothing, however little is kept for those who come late.
TEST_F(Lag, IsNotWhatAReaderHasThatReadsAtOnce) {
  auto session = runtime_->CreateSession(
      {.name = "nothing-kept",
       .command = Command::Shell("read go; head -c 200000 /dev/zero | tr '\\0' x; echo end"),
       .pty = false,
       .output_bytes = 0});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({.buffer_bytes = 0});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  const Tally tally = Count(output->fd.get());  // 200 KB fit into the reader's pipe
  EXPECT_EQ(tally.xs, 200000);
  EXPECT_EQ(tally.rest, "end\n");
}

// Also what is still in the program's pipe when it ends.
TEST_F(Lag, OfAReaderWithABufferMakesTheProgramWaitAndLosesNothing) {
  for (const bool pty : {false, true}) {
    auto session = runtime_->CreateSession(
        {.name = pty ? "terminal" : "pipes",
         .command = Command::Shell("stty raw; read go; head -c 3000000 /dev/zero | "
                                   "tr '\\0' x; printf end"),
         .pty = pty,
         .output_bytes = 1000});
    ASSERT_THAT(session, IsOk());
    auto output = (*session)->OpenOutput({.buffer_bytes = 5000});
    ASSERT_THAT(output, IsOk());
    ASSERT_THAT((*session)->Send({.text = "go", .submit = "C-j"}), IsOk());
    // 1 MiB is in our pipe, 5000 bytes wait, less than 2 MB are in the program's pipe or terminal.
    EXPECT_THAT((*session)->Wait(absl::Now() + absl::Milliseconds(300)),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
    const Tally tally = Count(output->fd.get());
    EXPECT_EQ(tally.xs, 3000000);
    EXPECT_THAT(tally.rest, EndsWith("end"));
    EXPECT_TRUE((*session)->Wait(Soon())->success());
  }
}

// The program ended while a reader that is waited for had not made room: the rest in the pipe was
// dropped.
// 40,000 bytes: more than the reader's pipe, made small, and its buffer take, less than the
// program's own pipe does.
TEST_F(Lag, OfAReaderWithABufferLosesNothingWhenTheProgramEnds) {
  auto session = runtime_->CreateSession(
      {.name = "pipes",
       .command = Command::Shell("read go; head -c 40000 /dev/zero | tr '\\0' x; printf end"),
       .pty = false,
       .output_bytes = 1000});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({.buffer_bytes = 5000});
  ASSERT_THAT(output, IsOk());
  ASSERT_GT(fcntl(output->fd.get(), F_SETPIPE_SZ, 4096), 0);
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  const Tally tally = Count(output->fd.get());
  EXPECT_EQ(tally.xs, 40000);
  EXPECT_EQ(tally.rest, "end");
}

TEST_F(Lag, OfAReaderWithoutABufferNeverHoldsTheProgramUp) {
  auto session =
      runtime_->CreateSession({.name = "fast",
                               .command = Command::Shell("read go; seq 0 399999; echo end"),
                               .pty = false,
                               .output_bytes = 10000});
  ASSERT_THAT(session, IsOk());
  auto lagging = (*session)->OpenOutput({.buffer_bytes = 0});
  ASSERT_THAT(lagging, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  ASSERT_THAT((*session)->Wait(Soon()), IsOk());  // nothing has been read yet
  std::string whole;
  for (int i = 0; i < 400000; ++i) absl::StrAppend(&whole, i, "\n");
  whole += "end\n";
  EXPECT_EQ((*session)->Info()->output_bytes, static_cast<int64_t>(whole.size()));
  // What its pipe took, a gap, and the end.
  const std::string got = ReadAll(lagging->fd.get());
  EXPECT_LT(got.size(), whole.size());
  EXPECT_TRUE(got.starts_with(whole.substr(0, 500000)));
  EXPECT_TRUE(got.ends_with(whole.substr(whole.size() - 10000)));
  // Who comes late is told where it begins.
  auto late = (*session)->OpenOutput({.from = 5});
  ASSERT_THAT(late, IsOk());
  EXPECT_GT(late->begins, 5);
  EXPECT_LE(late->begins, static_cast<int64_t>(whole.size()) - 10000);
  EXPECT_TRUE(ReadAll(late->fd.get()) == whole.substr(static_cast<size_t>(late->begins)));
  auto middle = (*session)->OpenOutput({.from = static_cast<int64_t>(whole.size()) - 4});
  ASSERT_THAT(middle, IsOk());
  EXPECT_EQ(middle->begins, static_cast<int64_t>(whole.size()) - 4);
  EXPECT_EQ(ReadAll(middle->fd.get()), "end\n");
  auto now = (*session)->OpenOutput({.from = -1});
  ASSERT_THAT(now, IsOk());
  EXPECT_EQ(now->begins, static_cast<int64_t>(whole.size()));
  EXPECT_EQ(ReadAll(now->fd.get()), "");
}

TEST_F(Lag, OfAReaderThatGoesAwayHoldsNobodyUp) {
  auto session =
      runtime_->CreateSession({.name = "left",
                               .command = Command::Shell("read go; head -c 5000000 /dev/zero"),
                               .pty = false});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({.buffer_bytes = 1000});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  EXPECT_THAT((*session)->Wait(absl::Now() + absl::Milliseconds(200)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  output->fd.reset();
  EXPECT_THAT((*session)->Wait(Soon()), IsOk());
}

}  // namespace
}  // namespace berth
