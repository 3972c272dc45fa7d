// What people see of a session: Capture, Attach with several viewers, Resize.

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
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
#include "tests/sessions/probe.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;

void Type(int viewer, absl::string_view text) {
  EXPECT_EQ(send(viewer, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

using Capture = RuntimeTest;

TEST_F(Capture, OfPipesIsWhatATerminalWouldShow) {
  auto session = runtime_->CreateSession(
      {.name = "pipes",
       .command = Command::Shell(
           "printf 'one\\ntwo\\n'; printf '\\033[31mred\\033[m\\n\\ttab\\rover\\n' >&2; "
           "printf 'last line without end'"),
       .pty = false});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Wait(Soon()), IsOk());
  auto all = (*session)->Capture({});
  ASSERT_THAT(all, IsOk());
  // Two pipes have no order between them, each has its own.
  EXPECT_THAT(*all, HasSubstr("one\ntwo\n"));
  EXPECT_THAT(*all, HasSubstr("red\nover    tab\n"));
  EXPECT_THAT(*all, HasSubstr("last line without end"));
  EXPECT_THAT(*(*session)->Capture({.colour = true}), HasSubstr("31m"));
}

TEST_F(Capture, GivesTheLastLinesOfScreenAndScrollback) {
  for (const bool pty : {true, false}) {
    auto session = runtime_->CreateSession({.name = pty ? "terminal" : "pipes",
                                            .command = Command::Shell("seq 1000"),
                                            .pty = pty,
                                            .scrollback_lines = 500});
    ASSERT_THAT(session, IsOk());
    ASSERT_THAT((*session)->Wait(Soon()), IsOk());
    EXPECT_THAT((*session)->Capture({.lines = 3}), IsOkAndHolds("998\n999\n1000\n"));
    const std::string all = *(*session)->Capture({});
    EXPECT_THAT(all, EndsWith("999\n1000\n"));
    // 500 lines that left the screen, and the screen.
    EXPECT_THAT(all, testing::StartsWith("478\n"));
  }
}

TEST_F(Capture, SeesWhatAProgramDrewNotWhatItWrote) {
  auto session = runtime_->CreateSession(
      {.name = "drawn",
       .command = Command::Shell(
           "printf 'gone\\033[2J\\033[Htop\\033[5;3Hmiddle\\033]2;a title\\007'; echo; read x"),
       .size = {.rows = 6, .cols = 20}});
  ASSERT_THAT(session, IsOk());
  ReadUntil((*session)->OpenOutput({})->fd.get(), "\a");
  EXPECT_THAT((*session)->Capture({}), IsOkAndHolds("top\n\n\n\n  middle\n"));
  EXPECT_EQ((*session)->Info()->title, "a title");
}

using Resize = RuntimeTest;

TEST_F(Resize, IsSeenByTheProgramAndTheCapture) {
  auto session = runtime_->CreateSession({.name = "sized",
                                          .command = Command::Argv({ProbePath(), "size"}),
                                          .size = {.rows = 30, .cols = 90}});
  ASSERT_THAT(session, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "size 30x90\r\n");
  ASSERT_THAT((*session)->Resize({.rows = 50, .cols = 132}), IsOk());
  ReadUntil(output->fd.get(), "size 50x132\r\n");
  EXPECT_EQ((*session)->Info()->size, (TerminalSize{.rows = 50, .cols = 132}));
  EXPECT_THAT((*session)->Capture({}), IsOkAndHolds("size 30x90\nsize 50x132\n"));
  for (const TerminalSize bad : {TerminalSize{0, 80}, TerminalSize{24, 0}, TerminalSize{5000, 80},
                                 TerminalSize{24, 65535}}) {
    EXPECT_THAT((*session)->Resize(bad), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  ASSERT_THAT((*session)->Resize({.rows = 1, .cols = 1}), IsOk());
  ReadUntil(output->fd.get(), "size 1x1\r\n");
}

TEST_F(Resize, OfPipesIsRefused) {
  auto session =
      runtime_->CreateSession({.name = "pipes", .command = Command::Argv({"cat"}), .pty = false});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->Resize({.rows = 50, .cols = 132}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*session)->Attach(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(Resize, OfAProcessWithATerminalIsSeenByIt) {
  auto process = runtime_->Spawn({.command = Command::Argv({ProbePath(), "size"}),
                                  .pty = true,
                                  .size = {.rows = 30, .cols = 90}});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  ASSERT_THAT(out, IsOk());
  ReadUntil(out->get(), "size 30x90\r\n");
  ASSERT_THAT((*process)->Resize({.rows = 50, .cols = 132}), IsOk());
  ReadUntil(out->get(), "size 50x132\r\n");
  EXPECT_THAT((*process)->TakeStderr(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

class Attach : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    auto session = runtime_->CreateSession({.name = "shared", .command = Command::Argv({"cat"})});
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
  }
  UniqueFd View() {
    auto viewer = session_->Attach();
    EXPECT_THAT(viewer, IsOk());
    return viewer.ok() ? *std::move(viewer) : UniqueFd();
  }
  std::unique_ptr<Session> session_;
};

TEST_F(Attach, ManySeeAndTypeAtOnce) {
  auto output = session_->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT(session_->Send({.text = "earlier"}), IsOk());
  ReadUntil(output->fd.get(), "earlier\r\nearlier\r\n");
  std::vector<UniqueFd> viewers;
  for (int i = 0; i < 5; ++i) viewers.push_back(View());
  // Each gets the screen as it is.
  for (const UniqueFd& viewer : viewers) ReadUntil(viewer.get(), "earlier");
  EXPECT_EQ(session_->Info()->attached, 5);
  for (size_t i = 0; i < viewers.size(); ++i) {
    const std::string line = absl::StrCat("typed by ", i);
    Type(viewers[i].get(), line + "\r");
    for (const UniqueFd& viewer : viewers)
      ReadUntil(viewer.get(), absl::StrCat(line, "\r\n", line, "\r\n"));
  }
  // One leaves; the others and the program stay.
  viewers.pop_back();
  Type(viewers[0].get(), "still\r");
  ReadUntil(viewers[3].get(), "still\r\nstill\r\n");
  EXPECT_EQ(session_->Info()->attached, 4);
  EXPECT_EQ(session_->CheckLiveness().liveness, Liveness::kAlive);
  // The end is the end for all of them.
  Type(viewers[1].get(), "\x04");
  for (const UniqueFd& viewer : viewers) ReadAll(viewer.get());
  EXPECT_TRUE(session_->Wait(Soon())->success());
}

TEST_F(Attach, AFloodIsSkippedForWhoLagsNotHeldUp) {
  auto session = runtime_->CreateSession(
      {.name = "flood",
       .command = Command::Shell("read go; seq 300000; echo the end; read go"),
       .output_bytes = 10000});
  ASSERT_THAT(session, IsOk());
  auto viewer = (*session)->Attach();
  ASSERT_THAT(viewer, IsOk());
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ASSERT_THAT((*session)->Send({.text = "go"}), IsOk());
  ReadUntil(output->fd.get(),
            "the end");  // the program was not held up by the viewer, who has read nothing
  const std::string seen = ReadUntil(viewer->get(), "the end");
  EXPECT_LT(seen.size(), 1500000u);
}

}  // namespace
}  // namespace berth
