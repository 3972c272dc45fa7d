// Scenarios 7, 8, 11 and 14 to 18 in containers, and what a container is asked for besides: a user,
// a log with a cap, what it uses.

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/docker/docker_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class Streams : public DockerTest {};
class Senders : public DockerTest {};
class Stops : public DockerTest {};
class Asked : public DockerTest {};

TEST_F(Streams, TenMegabytesOnStderrBeforeTheFirstByteOnStdout) {
  auto session = Start("two", "head -c 10000000 /dev/zero | tr '\\0' e >&2; echo out",
                       {.pty = false, .output_bytes = 16 << 20});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Everything(*session), "out\n");
  EXPECT_THAT(session->Wait(Soon()), IsOkAndHolds(ExitStatus{0, 0, EndReason::kExited}));
  EXPECT_EQ(Everything(*session, OutputStream::kStderr), std::string(10000000, 'e'));
}

TEST_F(Streams, PartialLinesOfTheTwoNeverMix) {
  auto session = Start("mixed",
                       "i=0; while [ $i -lt 300 ]; do printf a; printf b >&2; printf c; "
                       "printf 'd\\n' >&2; echo; i=$((i+1)); done",
                       {.pty = false});
  ASSERT_NE(session, nullptr);
  std::string out, err;
  for (int i = 0; i < 300; ++i) out += "ac\n", err += "bd\n";
  EXPECT_EQ(Everything(*session), out);
  EXPECT_EQ(Everything(*session, OutputStream::kStderr), err);
}

TEST_F(Streams, ALineOfAHundredMegabytesAndThenAResult) {
  // It begins once somebody reads: what is written before that is kept up to output_bytes only.
  auto session =
      Start("long", "read go; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo result",
            {.pty = false});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT(session->Send({.text = "go"}), IsOk());
  const std::string text = ReadAll(output->fd.get(), absl::Minutes(2));
  EXPECT_EQ(output->begins, 0);
  EXPECT_EQ(text.size(), 100000000u + 8);
  EXPECT_EQ(text.find_first_not_of('x'), 100000000u);
  EXPECT_TRUE(absl::EndsWith(text, "\nresult\n"));
}

TEST_F(Streams, EveryByteStaysWhatItIs) {
  std::string line = "printf '", bytes;
  for (int i = 0; i < 256; ++i) {
    absl::StrAppend(&line, "\\", absl::string_view("01234567").substr(i >> 6, 1),
                    absl::string_view("01234567").substr(i >> 3 & 7, 1),
                    absl::string_view("01234567").substr(i & 7, 1));
    bytes.push_back(static_cast<char>(i));
  }
  line += "'; printf '\\303'; printf '\\251\\r\\n'";
  auto session = Start("bytes", line, {.pty = false});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Everything(*session), bytes + "\303\251\r\n");
}

TEST_F(Streams, AHundredFastExecsLoseNothing) {
  auto session = Start("place", "cat");
  ASSERT_NE(session, nullptr);
  for (int i = 0; i < 100; ++i) {
    auto process = session->Exec({.command = Command::Shell(absl::StrCat("echo ", i, "; exit 3"))});
    ASSERT_THAT(process, IsOk());
    auto out = (*process)->TakeStdout();
    ASSERT_THAT(out, IsOk());
    ASSERT_EQ(ReadAll(out->get()), absl::StrCat(i, "\n"));
    ASSERT_THAT((*process)->Wait(Soon()), IsOkAndHolds(ExitStatus{3, 0, EndReason::kExited}));
  }
}

TEST_F(Senders, OneThatNeverReadsDoesNotSlowTheOthers) {
  auto deaf = Start("deaf", "echo up; sleep 1000", {.pty = false});
  auto other = Start("other", "cat", {.pty = false});
  ASSERT_TRUE(deaf != nullptr && other != nullptr);
  // More than all that is between here and there can hold.
  const std::string much(8 << 20, 'x');
  EXPECT_THAT(deaf->Send({.text = much, .await = Delivery::kWritten},
                         absl::Now() + absl::Milliseconds(300)),
              IsOkAndHolds(Delivery::kQueued));
  auto output = other->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT(other->Send({.text = "quick"}), IsOk());
  ReadUntil(output->fd.get(), "quick");
}

TEST_F(Senders, AMegabyteArrivesOnce) {
  auto session = Start("reader", "head -c 1000000 | md5sum; cat", {.pty = false});
  ASSERT_NE(session, nullptr);
  std::string text;
  for (int i = 0; text.size() < 1000000; ++i) absl::StrAppend(&text, i, ";~$(x)\n");
  text.resize(1000000);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT(session->Send({.text = text, .submit = ""}), IsOk());
  // Only then: head may read more than it is asked for, and drop it.
  std::string got = ReadUntil(output->fd.get(), "-\n");
  ASSERT_THAT(session->Send({.text = "after", .submit = ""}), IsOk());
  got += ReadUntil(output->fd.get(), "after");
  std::ofstream(work_ + "/sent", std::ios::binary) << text;
  auto sum = engine().Shell(absl::StrCat("md5sum <", work_, "/sent"));
  ASSERT_THAT(sum, IsOk());
  EXPECT_EQ(got, *sum + "after");
}

// Scenario 8.
TEST_F(Senders, OneThatGivesUpHasSentNothingOrAllAndARetryIsTheOnlyOne) {
  auto session = Start("late", "mkfifo /tmp/go; echo up; cat /tmp/go; cat", {.pty = false});
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "up\n");
  // More than all that is between here and there can hold: what follows has to wait.
  const std::string much(8 << 20, 'x');
  EXPECT_THAT(session->Send({.text = much, .submit = "", .await = Delivery::kQueued}),
              IsOkAndHolds(Delivery::kQueued));
  for (const absl::Duration wait : {absl::ZeroDuration(), absl::Milliseconds(30)}) {
    EXPECT_THAT(session->Send({.text = "<retried>", .submit = ""}, absl::Now() + wait),
                StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("nothing was sent")));
  }
  EXPECT_THAT(session->Send({.text = "<retried>", .submit = "", .await = Delivery::kQueued}),
              IsOk());
  // Killed while it waits for its turn: it was not sent, or it was, and whole.
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(session->Send({.text = "<killed>", .submit = ""}, Soon()).ok() ? 0 : 1);
  }
  ASSERT_GT(pid, 0);
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  EXPECT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Milliseconds(100), "its turn"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  kill(pid, SIGKILL);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_THAT(session->Send({.text = "<end>", .submit = "", .await = Delivery::kQueued}), IsOk());
  const auto go = session->Exec({.command = Command::Shell("echo >/tmp/go")});
  ASSERT_THAT(go, IsOk());
  std::string got = ReadUntil(output->fd.get(), "<end>");
  got.erase(0, got.find('x'));
  ASSERT_EQ(got.find_first_not_of('x'), much.size());
  EXPECT_THAT(got.substr(much.size()), AnyOf("<retried><end>", "<retried><killed><end>"));
}

TEST_F(Stops, OneThatIgnoresHangUpsAndHasDaemonsIsGoneAndItsPortsAreFree) {
  auto session = Start("server",
                       "trap '' HUP; nohup nc -lk -p 7777 -e cat >/dev/null 2>&1 & "
                       "(setsid nc -lk -p 7778 -e cat >/dev/null 2>&1 &); echo up; cat");
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "up");
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(Docker("ps -q"), "");
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
}

TEST_F(Asked, TheHostsUserWritesFilesOfItsOwn) {
  ASSERT_EQ(chown(work_.c_str(), geteuid(), getegid()), 0);
  auto session =
      Start("mine", "id -u; touch /shared/made",
            {.pty = false,
             .container = {.mounts = {{.source = work_, .target = "/shared"}}, .host_user = true}});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Everything(*session), absl::StrCat(geteuid(), "\n"));
  ASSERT_THAT(session->Wait(Soon()), IsOk());
  struct stat made;
  ASSERT_EQ(stat((work_ + "/made").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, geteuid());
  EXPECT_THAT(Create({.name = "both",
                      .command = Command::Argv({"true"}),
                      .container = {.user = "1000", .host_user = true}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("host_user")));
}

TEST_F(Asked, TheLogIsTurnedOverAtItsCap) {
  const std::string log = work_ + "/log";
  auto session = Start("logged", "head -c 150000 /dev/zero | tr '\\0' l; echo; echo last",
                       {.pty = false, .log_path = log, .log_cap_bytes = 100000});
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->Wait(Soon()), IsOk());
  std::ifstream now(log, std::ios::binary), before(log + ".1", std::ios::binary);
  const std::string newer(std::istreambuf_iterator<char>(now), {});
  const std::string older(std::istreambuf_iterator<char>(before), {});
  EXPECT_LE(newer.size(), 100000u);
  EXPECT_GT(older.size(), 0u);
  EXPECT_EQ(older + newer, std::string(150000, 'l') + "\nlast\n");
}

TEST_F(Asked, WhatItUsesIsToldAtOnceAndNothingOnceItHasEnded) {
  auto session = Start("busy", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; cat");
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "done");
  auto stats = session->GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_GT(stats->cpu, absl::ZeroDuration());
  EXPECT_GT(stats->memory_bytes, 0);
  EXPECT_GE(stats->processes, 2);
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_THAT(session->GetStats(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace berth
