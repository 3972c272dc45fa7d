// Scenario 5: what is sent arrives byte by byte, once and in order, on a terminal in raw mode and
// on pipes.

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class Send : public RuntimeTest, public testing::WithParamInterface<bool> {
 protected:
  // A session that writes its input to a file, ready to be sent to.
  void StartSink() {
    file_ = work_ + "/input";
    auto session = runtime_->CreateSession({.name = "sink",
                                            .command = Command::Argv({ProbePath(), "sink", file_}),
                                            .pty = GetParam()});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
    auto output = session_->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    output_ = std::move(output->fd);
    ReadUntil(output_.get(), "ready");
  }
  std::string Received() {
    EXPECT_THAT(session_->Send({.text = kEnd, .submit = ""}), IsOk());
    ReadUntil(output_.get(), "done");
    return FileBytes(file_);
  }
  // What Enter is to the program.
  static std::string Enter() { return GetParam() ? "\r" : "\n"; }

  std::string file_;
  std::unique_ptr<Session> session_;
  UniqueFd output_;
};
INSTANTIATE_TEST_SUITE_P(Streams, Send, testing::Bool(),
                         [](const auto& param) { return param.param ? "Terminal" : "Pipes"; });

TEST_P(Send, ArrivesByteExactOnceAndInOrder) {
  ASSERT_NO_FATAL_FAILURE(StartSink());
  std::vector<std::string> texts = {"Enter",
                                    "-x",
                                    "abc;",
                                    "~",
                                    "~.",
                                    "\xf0\x9f\x9a\xa2 \xe2\x82\xac",
                                    "",
                                    "C-c",
                                    "--",
                                    "$(id) `id` \\ \" '",
                                    "a\tb",
                                    std::string("nul\0nul", 7),
                                    "\xff\xfe\x80",
                                    "\x03\x04\x1a\x1b[A\x7f",
                                    "line 1\nline 2\r\nline 3\r"};
  texts.push_back(Pattern(17 << 10, 17));
  texts.push_back(Pattern(1 << 20, 1));
  std::string expected;
  for (const std::string& text : texts) {
    EXPECT_THAT(session_->Send({.text = text, .submit = ""}), IsOkAndHolds(Delivery::kWritten));
    EXPECT_THAT(session_->Send({.text = text}), IsOkAndHolds(Delivery::kSubmitted));
    absl::StrAppend(&expected, text, text, Enter());
  }
  const std::string received = Received();
  EXPECT_EQ(received.size(), expected.size());
  EXPECT_TRUE(received == expected);
}

TEST_P(Send, PressesTheSubmitKeyThatWasAsked) {
  ASSERT_NO_FATAL_FAILURE(StartSink());
  EXPECT_THAT(session_->Send({.text = "a", .submit = "C-j"}), IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_THAT(session_->Send({.text = "b", .submit = "Escape"}),
              IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_THAT(session_->Send({.text = "", .submit = "Tab"}), IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_THAT(session_->Send({.text = "lost", .submit = "NoSuchKey"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NoSuchKey")));
  EXPECT_EQ(Received(), "a\nb\x1b\t");
}

TEST_P(Send, KeysAreNamesAndTextIsNot) {
  ASSERT_NO_FATAL_FAILURE(StartSink());
  EXPECT_THAT(session_->SendKeys({"a", "Enter", "C-c", "M-x", "Up"}), IsOk());
  EXPECT_THAT(session_->SendKeys({"b", "Entre"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Entre")));
  EXPECT_THAT(session_->Send({.text = "Up", .submit = ""}), IsOk());
  EXPECT_EQ(Received(), absl::StrCat("a", Enter(), "\x03\x1bx\x1b[AUp"));
}

TEST_P(Send, ToldAsConfirmedOnceTheProgramAnswered) {
  auto session = runtime_->CreateSession(
      {.name = "echo",
       .command = Command::Shell("read line; echo answer; read line; exec sleep 1000"),
       .pty = GetParam()});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->Send({.text = "question", .await = Delivery::kConfirmed}),
              IsOkAndHolds(Delivery::kConfirmed));
}

TEST_P(Send, ToAProgramThatHasEndedIsRefused) {
  auto session = runtime_->CreateSession(
      {.name = "ended", .command = Command::Argv({"true"}), .pty = GetParam()});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Wait(Soon()), IsOk());
  EXPECT_THAT((*session)->Send({.text = "x"}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*session)->SendKeys({"x"}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

using Stdin = RuntimeTest;

TEST_F(Stdin, ClosedIsEndOfFileBehindAllThatWasSent) {
  const std::string file = work_ + "/input";
  auto session = runtime_->CreateSession(
      {.name = "pipes", .command = Command::Argv({ProbePath(), "sink", file}), .pty = false});
  ASSERT_THAT(session, IsOk());
  const std::string text = Pattern(3 << 20);
  EXPECT_THAT((*session)->Send({.text = text, .submit = "", .await = Delivery::kQueued}), IsOk());
  EXPECT_THAT((*session)->CloseStdin(), IsOk());
  EXPECT_THAT((*session)->CloseStdin(), IsOk());
  EXPECT_THAT((*session)->Send({.text = "late"}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*session)->SendKeys({"l"}), StatusIs(absl::StatusCode::kFailedPrecondition));
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->success()) << Describe(*end);
  EXPECT_TRUE(FileBytes(file) == text);
}

// A refused CloseStdin had closed the input all the same.
TEST_F(Stdin, OfATerminalCannotBeClosedAndGoesOn) {
  auto session = runtime_->CreateSession({.name = "terminal", .command = Command::Argv({"cat"})});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  EXPECT_THAT((*session)->CloseStdin(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("C-d")));
  EXPECT_THAT((*session)->Send({.text = "still here"}), IsOkAndHolds(Delivery::kSubmitted));
  ReadUntil(output->fd.get(), "still here\r\nstill here\r\n");
  EXPECT_THAT((*session)->SendKeys({"C-d"}), IsOk());
  auto end = (*session)->Wait(Soon());
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->success()) << Describe(*end);
}

// Somebody who waits for an answer hears at once that none will come.
TEST_F(Stdin, ConfirmationEndsWithTheProgram) {
  auto session = runtime_->CreateSession(
      {.name = "silent", .command = Command::Shell("read line; exit 4"), .pty = false});
  ASSERT_THAT(session, IsOk());
  const absl::Time start = absl::Now();
  EXPECT_THAT(
      (*session)->Send({.text = "go", .await = Delivery::kConfirmed}, start + absl::Seconds(60)),
      IsOkAndHolds(Delivery::kSubmitted));
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
}

}  // namespace
}  // namespace berth
