// Scenarios 1 to 3: a session's life and its name.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/conformance/conformance.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using Lifecycle = Conformance;
using Names = Conformance;

TEST_F(Lifecycle, CreateSendCaptureDestroyAndDestroyAgain) {
  const auto session = Start("one", "echo ready; cat");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kAlive);
  Until(*session, "ready");
  EXPECT_THAT(session->Send({.text = "hello there"}), IsOk());
  Until(*session, "hello there\r\nhello there");
  auto screen = session->Capture({});
  ASSERT_THAT(screen, IsOk());
  EXPECT_EQ(*screen, "ready\nhello there\nhello there\n");
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_EQ(session->CheckLiveness().liveness, Liveness::kDead);
  EXPECT_THAT(session->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_THAT(session->Send({.text = "x"}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(runtime_->Open(session->handle()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Lifecycle, AnUnknownHandleIsNotFound) {
  for (const char* id : {"nothing", "", "../../etc", "a/b", "abcdefghijklmnopqrstuvwxyz"}) {
    EXPECT_THAT(runtime_->Open(absl::StrCat(engine().backend(), ":", id)),
                StatusIs(absl::StatusCode::kNotFound))
        << id;
  }
}

TEST_F(Lifecycle, InfoTellsWhatWasAskedFor) {
  const auto session = Start("told", "cat", {.labels = {{"story", "42"}}});
  ASSERT_NE(session, nullptr);
  auto info = session->Info();
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->name, "told");
  EXPECT_EQ(info->backend, engine().backend());
  EXPECT_EQ(info->handle, session->handle());
  EXPECT_EQ(info->state, SessionState::kRunning);
  EXPECT_TRUE(info->durable);
  EXPECT_TRUE(info->pty);
  EXPECT_EQ(info->labels.at("story"), "42");
}

TEST_F(Lifecycle, AnotherRuntimeOpensItByItsHandleAndGoesOn) {
  auto session = Start("shared", "echo ready; read line; echo got $line; exit 7");
  ASSERT_NE(session, nullptr);
  Until(*session, "ready");
  const std::unique_ptr<Runtime> other = OtherRuntime();
  auto again = other->Open(session->handle());
  ASSERT_THAT(again, IsOk());
  session.reset();
  EXPECT_THAT((*again)->Send({.text = "word"}), IsOk());
  Until(**again, "got word");
  auto status = (*again)->Wait(Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, (ExitStatus{7, 0, EndReason::kExited}));
  EXPECT_THAT((*again)->Destroy(absl::ZeroDuration()), IsOk());
}

TEST_F(Lifecycle, AnEphemeralOneEndsWithItsRuntime) {
  REQUIRE_FEATURE(Feature::kEphemeral);
  const std::unique_ptr<Runtime> keeps = OtherRuntime();
  ASSERT_NE(Start("brief", "cat", {.durable = false}), nullptr);
  ASSERT_THAT(keeps->Find("brief"), IsOk());
  runtime_.reset();
  EXPECT_THAT(keeps->Find("brief"), StatusIs(absl::StatusCode::kNotFound));
  runtime_ = OtherRuntime();
}

TEST_F(Lifecycle, ACommandThatIsNotThereFailsAndLeavesNothing) {
  EXPECT_THAT(Create({.name = "none", .command = Command::Argv({"/no/such/program"})}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/program")));
  EXPECT_THAT(runtime_->Find("none"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(Names, APrefixIsNotTheName) {
  const auto foobar = Start("foobar", "cat");
  ASSERT_NE(foobar, nullptr);
  EXPECT_THAT(runtime_->Find("foo"), StatusIs(absl::StatusCode::kNotFound));
  const auto foo = Start("foo", "cat");
  ASSERT_NE(foo, nullptr);
  EXPECT_THAT(foo->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_THAT(runtime_->Find("foo"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(foobar->CheckLiveness().liveness, Liveness::kAlive);
}

TEST_F(Names, BadOnesAreRefusedWithTheReason) {
  for (const std::string& name : std::vector<std::string>{
           "../x", "a b", "a.b", "", std::string(300, 'a'), "$(id)", "a\nb", "-a", "a:b", "a=b"}) {
    EXPECT_THAT(Create({.name = name, .command = Command::Shell("true")}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
}

TEST_F(Names, OneOfManyConcurrentCreatesWins) {
  constexpr int kThreads = 4;
  std::vector<absl::Status> results(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &results] {
      results[static_cast<size_t>(i)] =
          Create({.name = "same", .command = Command::Shell("cat")}).status();
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

TEST_F(Names, ARenamedOneKeepsItsHandle) {
  const auto session = Start("before", "cat");
  const auto other = Start("taken", "cat");
  ASSERT_TRUE(session != nullptr && other != nullptr);
  EXPECT_THAT(session->Rename("taken"), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(session->Rename("a b"), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_THAT(session->Rename("after"), IsOk());
  EXPECT_EQ(session->name(), "after");
  EXPECT_THAT(runtime_->Find("before"), StatusIs(absl::StatusCode::kNotFound));
  auto found = runtime_->Find("after");
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->handle(), session->handle());
  EXPECT_EQ((*found)->CheckLiveness().liveness, Liveness::kAlive);
}

}  // namespace
}  // namespace berth
