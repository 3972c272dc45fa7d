// Rename: another name for the same session.

#include <memory>
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
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using Rename = RuntimeTest;

TEST_F(Rename, MovesTheNameAndNothingElse) {
  auto session = runtime_->CreateSession({.name = "old", .command = Command::Argv({"cat"})});
  auto taken = runtime_->CreateSession({.name = "taken", .command = Command::Argv({"cat"})});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(taken, IsOk());
  const std::string handle = (*session)->handle();
  EXPECT_THAT((*session)->Rename("taken"),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("taken")));
  EXPECT_THAT((*session)->Rename("../x"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ((*session)->name(), "old");
  ASSERT_THAT((*session)->Rename("new"), IsOk());
  EXPECT_EQ((*session)->name(), "new");
  EXPECT_EQ((*session)->handle(), handle);
  EXPECT_THAT(runtime_->Find("old"), StatusIs(absl::StatusCode::kNotFound));
  auto found = OtherRuntime()->Find("new");
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->handle(), handle);
  EXPECT_EQ((*found)->Info()->name, "new");
  // The old name is free, and the end of the renamed one leaves its new owner alone.
  auto next = runtime_->CreateSession({.name = "old", .command = Command::Argv({"cat"})});
  ASSERT_THAT(next, IsOk());
  EXPECT_THAT((*session)->Destroy(absl::ZeroDuration()), IsOk());
  EXPECT_THAT(runtime_->Find("new"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ((*runtime_->Find("old"))->handle(), (*next)->handle());
}

}  // namespace
}  // namespace berth
