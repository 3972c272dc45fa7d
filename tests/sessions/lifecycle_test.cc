// Scenario 1: create, alive, send, capture, destroy, dead, destroy again. Scenarios 2 and 3: names.

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using Lifecycle = RuntimeTest;
using Names = RuntimeTest;

TEST_F(Lifecycle, CreateSendCaptureDestroyAndDestroyAgain) {
  auto session = runtime_->CreateSession({.name = "one", .command = Command::Argv({"cat"})});
  ASSERT_THAT(session, IsOk());
  const LivenessReport alive = (*session)->CheckLiveness();
  EXPECT_EQ(alive.liveness, Liveness::kAlive) << alive.reason;
  auto output = (*session)->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  auto delivery = (*session)->Send({.text = "hello there"});
  ASSERT_THAT(delivery, IsOk());
  EXPECT_EQ(*delivery, Delivery::kSubmitted);
  ReadUntil(output->fd.get(), "hello there\r\nhello there\r\n");
  auto screen = (*session)->Capture({});
  ASSERT_THAT(screen, IsOk());
  EXPECT_EQ(*screen, "hello there\nhello there\n");
  EXPECT_THAT((*session)->Destroy(absl::Seconds(5)), IsOk());
  EXPECT_EQ((*session)->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_THAT((*session)->Destroy(absl::Seconds(5)), IsOk());
  EXPECT_THAT((*session)->Send({.text = "x"}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(runtime_->Open((*session)->handle()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Lifecycle, AnUnknownHandleIsNotFound) {
  for (const char* handle :
       {"native:nothing", "native:", "", ":", "native", "native:../../etc", "native:a/b"}) {
    EXPECT_THAT(runtime_->Open(handle).status().code(),
                testing::AnyOf(absl::StatusCode::kNotFound, absl::StatusCode::kUnimplemented))
        << handle;
  }
}

TEST_F(Lifecycle, ThePipesOfAProcessCarryItsOutputAndItsCode) {
  auto process = runtime_->Spawn({.command = Command::Shell("echo out; echo err >&2; exit 3")});
  ASSERT_THAT(process, IsOk());
  auto out = (*process)->TakeStdout();
  auto err = (*process)->TakeStderr();
  ASSERT_THAT(out, IsOk());
  ASSERT_THAT(err, IsOk());
  EXPECT_EQ(ReadAll(out->get()), "out\n");
  EXPECT_EQ(ReadAll(err->get()), "err\n");
  auto status = (*process)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->code, 3);
  EXPECT_THAT((*process)->TakeStdout(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(Lifecycle, AWaitThatMayNotWaitStillKnowsOfAnEnd) {
  auto session = runtime_->CreateSession({.name = "ended", .command = Command::Shell("exit 4")});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Wait(Soon()), IsOk());
  for (const absl::Time deadline : {absl::Now(), absl::InfinitePast()}) {
    auto status = (*session)->Wait(deadline);
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(status->code, 4);
  }
}

TEST_F(Names, APrefixIsNotTheName) {
  auto foobar = runtime_->CreateSession({.name = "foobar", .command = Command::Argv({"cat"})});
  ASSERT_THAT(foobar, IsOk());
  EXPECT_THAT(runtime_->Find("foo"), StatusIs(absl::StatusCode::kNotFound));
  auto foo = runtime_->CreateSession({.name = "foo", .command = Command::Argv({"cat"})});
  ASSERT_THAT(foo, IsOk());
  EXPECT_THAT((*foo)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_EQ((*foobar)->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Names, BadOnesAreRefusedWithTheReason) {
  for (const std::string& name : std::vector<std::string>{
           "../x", "a b", "a.b", "", std::string(300, 'a'), "$(id)", "a\nb", "-a", "_a", "a/b"}) {
    EXPECT_THAT(runtime_->CreateSession({.name = name, .command = Command::Argv({"true"})}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
}

TEST_F(Names, OneOfManyConcurrentCreatesWins) {
  constexpr int kThreads = 8;
  std::vector<absl::Status> results(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &results] {
      results[i] =
          runtime_->CreateSession({.name = "same", .command = Command::Argv({"cat"})}).status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  int made = 0;
  for (const absl::Status& result : results) {
    if (result.ok()) {
      ++made;
    } else {
      EXPECT_THAT(result, StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("same")));
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(runtime_->List()->size(), 1u);
}

}  // namespace
}  // namespace berth
