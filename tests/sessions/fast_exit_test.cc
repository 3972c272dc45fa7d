// Scenario 14: programs that end at once lose no output. Scenario 18: a daemon that holds stdout
// holds nobody up.

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
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::StartsWith;

using FastExit = RuntimeTest;

Command Echo(int i) { return Command::Shell(absl::StrCat("echo this is ", i, "; exit ", i % 251)); }

TEST_F(FastExit, OfAThousandProcessesLosesNothing) {
  for (int i = 0; i < 1000; ++i) {
    auto process = runtime_->Spawn({.command = Echo(i), .stderr_ = Stdio::Null()});
    ASSERT_THAT(process, IsOk());
    // Read before the wait and after it, in turns.
    auto out = (*process)->TakeStdout();
    ASSERT_THAT(out, IsOk());
    std::string text;
    if (i % 2 == 0) text = ReadAll(out->get());
    auto end = (*process)->Wait(Soon());
    ASSERT_THAT(end, IsOk());
    EXPECT_EQ(*end, (ExitStatus{.code = i % 251, .signal = 0, .reason = EndReason::kExited}))
        << Describe(*end);
    if (i % 2 != 0) text = ReadAll(out->get());
    EXPECT_EQ(text, absl::StrCat("this is ", i, "\n"));
  }
}

TEST_F(FastExit, OfSessionsLosesNothing) {
  for (int i = 0; i < 200; ++i) {
    const bool pty = i % 2 == 0;
    auto session =
        runtime_->CreateSession({.name = absl::StrCat("s", i), .command = Echo(i), .pty = pty});
    ASSERT_THAT(session, IsOk());
    auto end = (*session)->Wait(Soon());
    ASSERT_THAT(end, IsOk());
    EXPECT_EQ(*end, (ExitStatus{.code = i % 251, .signal = 0, .reason = EndReason::kExited}))
        << Describe(*end);
    auto output = (*session)->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    EXPECT_EQ(ReadAll(output->fd.get()), absl::StrCat("this is ", i, pty ? "\r\n" : "\n"));
    EXPECT_EQ(*(*session)->Capture({}), absl::StrCat("this is ", i, "\n"));
    EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
  }
}

class HeldStdout : public RuntimeTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    By, HeldStdout, testing::Values("sleep 1000", "sh -c 'trap \"\" HUP TERM; sleep 1000'", "yes"),
    [](const auto& param) {
      return std::string(param.index == 0 ? "ASleeper" : param.index == 1 ? "ADeafOne" : "AWriter");
    });

std::string Leader(const char* daemon) {
  return absl::StrCat("echo begin; setsid ", daemon, " & exit 7");
}

TEST_P(HeldStdout, OfASessionHoldsUpNeitherWaitNorTheEnd) {
  for (const bool pty : {false, true}) {
    const absl::Time start = absl::Now();
    auto session = runtime_->CreateSession({.name = pty ? "terminal" : "pipes",
                                            .command = Command::Shell(Leader(GetParam())),
                                            .pty = pty});
    ASSERT_THAT(session, IsOk());
    auto output = (*session)->OpenOutput({.buffer_bytes = 0});
    ASSERT_THAT(output, IsOk());
    auto end = (*session)->Wait(Soon());
    ASSERT_THAT(end, IsOk());
    EXPECT_EQ(*end, (ExitStatus{.code = 7, .signal = 0, .reason = EndReason::kExited}))
        << Describe(*end);
    ReadAll(output->fd.get());
    EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  }
}

TEST_P(HeldStdout, OfAProcessHoldsUpNeitherWaitNorTheEnd) {
  const absl::Time start = absl::Now();
  auto process = runtime_->Spawn({.command = Command::Shell(Leader(GetParam()))});
  ASSERT_THAT(process, IsOk());
  auto end = (*process)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(*end, (ExitStatus{.code = 7, .signal = 0, .reason = EndReason::kExited}))
      << Describe(*end);
  EXPECT_THAT(ReadAll((*process)->TakeStdout()->get()), StartsWith("begin\n"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

}  // namespace
}  // namespace berth
