// Events: how sessions end, told through one descriptor.

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

class Events : public RuntimeTest {
 protected:
  static std::optional<Event> Next(Runtime& runtime) {
    EXPECT_THAT(WaitFd(runtime.event_fd(), POLLIN, Soon(), "an event"), IsOk());
    auto event = runtime.NextEvent();
    EXPECT_THAT(event, IsOk());
    return event.ok() ? *event : std::nullopt;
  }
  static bool Quiet(Runtime& runtime) {
    return absl::IsDeadlineExceeded(
               WaitFd(runtime.event_fd(), POLLIN, absl::Now() + absl::Milliseconds(50), "")) &&
           !runtime.NextEvent()->has_value();
  }
};

TEST_F(Events, TellOnceHowEachSessionEnded) {
  auto first = runtime_->CreateSession(
      {.name = "first", .command = Command::Shell("read x; exit 6"), .pty = false});
  auto second = runtime_->CreateSession({.name = "second", .command = Command::Argv({"cat"})});
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(Quiet(*runtime_));
  ASSERT_THAT((*first)->Send({.text = "x"}), IsOk());
  std::optional<Event> event = Next(*runtime_);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, Event::Kind::kExited);
  EXPECT_EQ(event->handle, (*first)->handle());
  EXPECT_EQ(event->name, "first");
  EXPECT_EQ(event->exit, (ExitStatus{.code = 6, .signal = 0, .reason = EndReason::kExited}));
  EXPECT_TRUE(Quiet(*runtime_));
  ASSERT_THAT((*second)->Stop(absl::Seconds(5)), IsOk());
  event = Next(*runtime_);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->handle, (*second)->handle());
  EXPECT_EQ(event->exit.reason, EndReason::kStopped);
  EXPECT_TRUE(Quiet(*runtime_));
}

TEST_F(Events, TellOfSessionsThatWereOpenedToo) {
  auto made = runtime_->CreateSession({.name = "shared", .command = Command::Argv({"cat"})});
  ASSERT_THAT(made, IsOk());
  auto other = OtherRuntime();
  ASSERT_THAT(other->Open((*made)->handle()), IsOk());
  ASSERT_THAT(other->Find("shared"), IsOk());  // twice is once
  ASSERT_THAT((*made)->Stop(absl::Seconds(5)), IsOk());
  const std::optional<Event> event = Next(*other);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->handle, (*made)->handle());
  EXPECT_EQ(event->exit.reason, EndReason::kStopped);
  EXPECT_TRUE(Quiet(*other));
  ASSERT_THAT(other->Find("shared"), IsOk());  // had ended when it was opened
  EXPECT_TRUE(Quiet(*other));
}

TEST_F(Events, TellOfADestroyedSession) {
  auto session = runtime_->CreateSession({.name = "gone", .command = Command::Argv({"cat"})});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
  const std::optional<Event> event = Next(*runtime_);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, Event::Kind::kExited);
  EXPECT_EQ(event->exit.reason, EndReason::kStopped);
}

}  // namespace
}  // namespace berth
