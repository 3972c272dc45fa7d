// Scenarios 10, 11, 13, 14, 17 and what comes out: how a session ends, and that nothing is left.

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/wait_fd.h"
#include "tests/conformance/conformance.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using End = Conformance;
using Outside = Conformance;

TEST_F(End, TheCodeIsTheProgramsOwn) {
  for (const int code : {0, 3, 127, 255}) {
    const auto session = Start(absl::StrCat("code", code), absl::StrCat("exit ", code));
    ASSERT_NE(session, nullptr);
    auto status = session->Wait(Soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(*status, (ExitStatus{code, 0, EndReason::kExited}));
  }
}

TEST_F(End, ADeathBySignalIsToldAsASignal) {
  const auto session = Start("signal", "kill -SEGV $$");
  ASSERT_NE(session, nullptr);
  auto status = session->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{0, SIGSEGV, EndReason::kSignaled})) << Describe(*status);
}

TEST_F(End, AWaitThatTimedOutThenAKillThenTenWaits) {
  const auto session = Start("long", "echo ready; exec cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  EXPECT_THAT(session->Wait(absl::Now() + absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_THAT(session->Signal(SIGKILL), IsOk());
  std::vector<std::thread> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.emplace_back([&session] {
      auto status = session->Wait(Soon());
      ASSERT_THAT(status, IsOk());
      EXPECT_EQ(status->signal, SIGKILL);
    });
  }
  for (std::thread& waiter : waiters) waiter.join();
}

TEST_F(End, IsAnEventAndMakesTheExitDescriptorReadable) {
  const auto session = Start("event", "read line; exit 5");
  ASSERT_NE(session, nullptr);
  auto exit = session->ExitFd();
  ASSERT_THAT(exit, IsOk());
  EXPECT_THAT(session->Send({.text = "go"}), IsOk());
  EXPECT_THAT(WaitFd(exit->get(), POLLIN, Soon(), "wait for the end"), IsOk());
  EXPECT_EQ(session->Wait(absl::Now())->code, 5);
  ASSERT_THAT(WaitFd(runtime_->event_fd(), POLLIN, Soon(), "wait for the event"), IsOk());
  auto event = runtime_->NextEvent();
  ASSERT_THAT(event, IsOk());
  ASSERT_TRUE(event->has_value());
  EXPECT_EQ((*event)->handle, session->handle());
  EXPECT_EQ((*event)->exit.code, 5);
}

TEST_F(End, AWillingTreeStopsAtOnceAndADeafOneAtTheGrace) {
  const auto willing =
      Start("willing", "trap 'exit 9' TERM; echo ready; while :; do sleep 1; done");
  ASSERT_NE(willing, nullptr);
  Until(*willing, "ready");
  auto status = willing->Stop(absl::Minutes(5));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->reason, EndReason::kStopped) << Describe(*status);
  EXPECT_EQ(status->code, 9) << Describe(*status);

  const auto deaf = Start("deaf", "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done");
  ASSERT_NE(deaf, nullptr);
  Until(*deaf, "ready");
  status = deaf->Stop(absl::Milliseconds(200));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->signal, SIGKILL) << Describe(*status);
}

TEST_F(End, DestroyEndsWhatTriedToGetAway) {
  const std::string mark = absl::StrCat("98", getpid(), ".25");
  const std::string sleeper = absl::StrCat("sleep ", mark);
  const auto session =
      Start("escapees", absl::StrCat(sleeper, " & nohup ", sleeper, " >/dev/null 2>&1 & setsid ",
                                     sleeper, " & (setsid ", sleeper,
                                     " </dev/null >/dev/null 2>&1 &); echo ready; cat"));
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  EXPECT_TRUE(Runs(mark));
  ASSERT_THAT(session->Destroy(absl::Milliseconds(100)), IsOk());
  EXPECT_FALSE(Runs(mark));
}

TEST_F(End, FastOnesLoseNothing) {
  for (int i = 0; i < engine().Rounds(); ++i) {
    const auto session =
        Start(absl::StrCat("fast", i), absl::StrCat("echo one; echo two; exit ", i));
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(Everything(*session), "one\r\ntwo\r\n");
    auto status = session->Wait(Soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(status->code, i);
    ASSERT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  }
}

TEST_F(End, PipesKeepTheirBytesAndStayApart) {
  REQUIRE_FEATURE(Feature::kPipes);
  const auto session =
      Start("pipes", "printf 'out\\000\\377\\r\\n'; printf 'err\\200' >&2; printf more; exit 2",
            {.pty = false});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Everything(*session), std::string("out\0\xff\r\nmore", 11));
  EXPECT_EQ(Everything(*session, OutputStream::kStderr), "err\x80");
  EXPECT_EQ(session->Wait(Soon())->code, 2);
}

TEST_F(End, AClosedStdinIsAnEndOfFile) {
  REQUIRE_FEATURE(Feature::kPipes);
  const auto session = Start("eof", "cat; echo end", {.pty = false});
  ASSERT_NE(session, nullptr);
  EXPECT_THAT(session->Send({.text = "text", .submit = ""}), IsOk());
  EXPECT_THAT(session->CloseStdin(), IsOk());
  EXPECT_EQ(Everything(*session), "textend\n");
}

TEST_F(End, ALimitInTimeIsTheReason) {
  REQUIRE_FEATURE(Feature::kLimits);
  const auto session =
      Start("late", "cat", {.wall_limit = absl::Milliseconds(300), .grace = absl::Seconds(1)});
  ASSERT_NE(session, nullptr);
  auto status = session->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->reason, EndReason::kWall) << Describe(*status);
}

TEST_F(Outside, CaptureGivesTheLastLinesWithColourIfAsked) {
  const auto session =
      Start("screen", "printf 'one\\ntwo\\n\\033[31mred\\033[0m\\nlast\\n'; echo end; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "end");
  EXPECT_EQ(*session->Capture({}), "one\ntwo\nred\nlast\nend\n");
  EXPECT_EQ(*session->Capture({.lines = 2}), "last\nend\n");
  EXPECT_THAT(*session->Capture({.colour = true}), HasSubstr("31mred\x1b["));
}

TEST_F(Outside, AnExecRunsInTheSameEnvironmentWithItsOwnStreams) {
  REQUIRE_FEATURE(Feature::kExec);
  Env env = Env::Clean();
  env.Set("PATH", "/usr/bin:/bin").Set("OF_THE_SESSION", "one");
  const auto session = Start("host", "echo ready; cat", {.env = env});
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  ASSERT_THAT(session->SetEnvironment("SET_LATER", "two"), IsOk());
  Env more = Env::Clean();
  more.Set("OF_THE_EXEC", "three");
  auto process = session->Exec(
      {.command = Command::Shell("echo $OF_THE_SESSION $SET_LATER $OF_THE_EXEC; cat >&2; exit 6"),
       .env = more,
       .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  auto in = (*process)->TakeStdin();
  auto out = (*process)->TakeStdout();
  auto err = (*process)->TakeStderr();
  ASSERT_TRUE(in.ok() && out.ok() && err.ok());
  EXPECT_EQ(write(in->get(), "input", 5), 5);
  in->reset();
  EXPECT_EQ(ReadAll(out->get()), "one two three\n");
  EXPECT_EQ(ReadAll(err->get()), "input");
  auto status = (*process)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->code, 6);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Outside, StatsCountProcesses) {
  const auto session = Start("used", "sleep 1000 & echo ready; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  auto stats = session->GetStats();
  ASSERT_THAT(stats, IsOk());
  EXPECT_GE(stats->processes, 2);
  EXPECT_GT(stats->memory_bytes, 0);
}

TEST_F(Outside, TheLogHasAllOutput) {
  REQUIRE_FEATURE(Feature::kLog);
  const std::string log = work_ + "/log";
  const auto session = Start("logged", "echo one; echo two", {.log_path = log});
  ASSERT_NE(session, nullptr);
  ASSERT_THAT(session->Wait(Soon()), IsOk());
  ASSERT_THAT(session->Stop(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(Here("cat " + log, ""), "one\r\ntwo\r\n");
}

TEST_F(Outside, AViewerSeesTheScreenAndTypes) {
  REQUIRE_FEATURE(Feature::kAttach);
  const auto session = Start("viewed", "echo before; cat");
  ASSERT_NE(session, nullptr);
  Until(*session, "before");
  auto viewer = session->Attach();
  ASSERT_THAT(viewer, IsOk());
  ReadUntil(viewer->get(), "before");
  EXPECT_EQ(write(viewer->get(), "typed\r", 6), 6);
  ReadUntil(viewer->get(), "typed");
  EXPECT_FALSE(session->AttachCommand().empty());
}

}  // namespace
}  // namespace berth
