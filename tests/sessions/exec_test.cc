// Exec: one more program in a session's place.

#include <fcntl.h>
#include <signal.h>
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
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class Exec : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    auto session =
        runtime_->CreateSession({.name = "place", .command = Command::Argv({"cat"}), .cwd = work_});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
  }
  std::unique_ptr<Session> session_;
};

TEST_F(Exec, HasStreamsAndACodeOfItsOwn) {
  auto process = session_->Exec(
      {.command = Command::Shell("pwd; cat; echo err >&2; exit 12"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  auto in = (*process)->TakeStdin();
  auto out = (*process)->TakeStdout();
  auto err = (*process)->TakeStderr();
  ASSERT_THAT(in, IsOk());
  ASSERT_THAT(out, IsOk());
  ASSERT_THAT(err, IsOk());
  ASSERT_EQ(write(in->get(), "typed\0\xff", 7), 7);
  in->reset();
  EXPECT_EQ(ReadAll(out->get()), absl::StrCat(work_, "\n", std::string("typed\0\xff", 7)));
  EXPECT_EQ(ReadAll(err->get()), "err\n");
  auto end = (*process)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(*end, (ExitStatus{.code = 12, .signal = 0, .reason = EndReason::kExited}))
      << Describe(*end);
  EXPECT_EQ(*(*process)->Wait(absl::InfiniteFuture()), *end);
  // The session has nothing of it.
  EXPECT_EQ(session_->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ(session_->Info()->output_bytes, 0);
}

TEST_F(Exec, LosesNothingOfManyShortOnes) {
  for (int i = 0; i < 100; ++i) {
    auto process =
        session_->Exec({.command = Command::Shell(absl::StrCat("echo this is ", i, "; exit ", i))});
    ASSERT_THAT(process, IsOk());
    EXPECT_EQ((*process)->Wait(Soon())->code, i);
    EXPECT_EQ(ReadAll((*process)->TakeStdout()->get()), absl::StrCat("this is ", i, "\n"));
  }
}

TEST_F(Exec, IsStoppedWithAllItsProcessesAndAlone) {
  auto process =
      session_->Exec({.command = Command::Shell(
                          "trap '' TERM; setsid sleep 1000 & echo up; while :; do wait; done")});
  auto other = session_->Exec({.command = Command::Argv({"cat"}), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT(other, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  ReadUntil(out->get(), "up");
  auto end = (*process)->Stop(absl::Milliseconds(100));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(*end, (ExitStatus{.code = 0, .signal = SIGKILL, .reason = EndReason::kStopped}))
      << Describe(*end);
  ReadAll(out->get());  // ends, so nobody holds it any more
  EXPECT_THAT((*other)->Wait(absl::Now()), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(session_->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_THAT((*process)->Signal(SIGTERM), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(Exec, EndsWithItsSession) {
  auto process = session_->Exec({.command = Command::Argv({"cat"}), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT(session_->Stop(absl::Seconds(5)), IsOk());
  auto end = (*process)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_NE(end->signal, 0) << Describe(*end);
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"true"})}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(Exec, HasATerminalIfAsked) {
  auto process = session_->Exec({.command = Command::Shell("tty -s && stty size"),
                                 .pty = true,
                                 .size = {.rows = 33, .cols = 44}});
  ASSERT_THAT(process, IsOk());
  EXPECT_TRUE((*process)->is_pty());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  EXPECT_EQ(ReadAll(out->get()), "33 44\r\n");
  EXPECT_TRUE((*process)->Wait(Soon())->success());
}

TEST_F(Exec, SaysWhatCouldNotBeStarted) {
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"no-such-program"})}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"/etc/passwd"})}),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("/etc/passwd")));
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"true"}), .cwd = work_ + "/not-there"}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("working directory '" + work_ + "/not-there'")));
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"true", std::string(200 << 10, 'x')})}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("too large")));
  EXPECT_THAT(session_->Exec({.command = {}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(session_->Exec({.command = Command::Argv({"true"}), .stdout_ = Stdio::Fd(9999)}),
              Not(IsOk()));
  // And goes on.
  auto process = session_->Exec({.command = Command::Argv({"true"})});
  ASSERT_THAT(process, IsOk());
  EXPECT_TRUE((*process)->Wait(Soon())->success());
}

}  // namespace
}  // namespace berth
