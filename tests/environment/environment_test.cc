// Environments: several processes in one place, here on native.

#include "runtime/environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/env.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class EnvironmentTest : public RuntimeTest {
 protected:
  SessionSpec Spec() {
    Env env = Env::Basic();
    env.Set("OF_THE_PLACE", "one").Set("LIST", "a");
    return {.name = "place", .backend = "native", .env = env, .cwd = work_};
  }
  std::string Output(Environment& environment, const ProcessSpec& spec) {
    auto process = environment.Start(spec);
    EXPECT_THAT(process, IsOk());
    return process.ok() ? ReadAll((*process)->TakeStdout()->get()) : "";
  }
};

TEST_F(EnvironmentTest, ProcessesShareItsFolderAndVariables) {
  Environment environment(runtime_.get(), Spec());
  EXPECT_THAT(environment.Start({.command = Command::Shell("true")}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Init")));
  ASSERT_THAT(environment.Init(), IsOk());
  ASSERT_THAT(environment.Init(), IsOk());
  Env more = Env::Clean();
  more.Set("OF_THE_PROCESS", "two");
  EXPECT_EQ(
      Output(environment, {.command = Command::Shell("echo $OF_THE_PLACE $OF_THE_PROCESS; pwd -P"),
                           .env = more}),
      "one two\n" + work_ + "\n");
  EXPECT_EQ(Output(environment, {.command = Command::Shell("pwd"), .cwd = "/"}), "/\n");
  EXPECT_THAT(environment.CheckBinary("sh"), IsOk());
  EXPECT_THAT(environment.CheckBinary("$(touch x) no-such-program"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
  EXPECT_EQ(access((work_ + "/x").c_str(), F_OK), -1);
}

TEST_F(EnvironmentTest, OutputGoesWhereTheCallerSays) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]);
  UniqueFd writes(fds[1]);
  auto status = environment.Run({.command = Command::Shell("echo out; echo err >&2; exit 3"),
                                 .stdout_ = Stdio::Fd(writes.get()),
                                 .stderr_ = Stdio::Fd(writes.get())},
                                Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->code, 3);
  writes.reset();
  EXPECT_EQ(ReadAll(reads.get()), "out\nerr\n");
}

TEST_F(EnvironmentTest, AProcessWaitsForTheOnesItIsToldTo) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  auto first = environment.Start(
      {.command = Command::Shell("read line; echo done >first"), .stdin_ = Stdio::Pipe()},
      {.name = "first"});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(environment.Start(
                  {.command = Command::Shell("true")},
                  {.wait_on = {"first"}, .wait_deadline = absl::Now() + absl::Milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("first")));
  EXPECT_THAT(environment.Start({.command = Command::Shell("true")}, {.wait_on = {"nobody"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
  ASSERT_EQ(write((*first)->TakeStdin()->get(), "\n", 1), 1);
  auto second = environment.Run({.command = Command::Shell("test -e first")}, Soon(),
                                {.wait_on = {"first"}, .wait_deadline = Soon()});
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(second->success());
}

TEST_F(EnvironmentTest, StoppedItStartsAgainAndShutDownItIsGone) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  auto process = environment.Start({.command = Command::Shell("exec sleep 1000")});
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT(environment.Stop(absl::Seconds(5)), IsOk());
  EXPECT_NE((*process)->Wait(Soon())->signal, 0);
  EXPECT_FALSE(environment.Start({.command = Command::Shell("true")}).ok());
  ASSERT_THAT(environment.Init(), IsOk());
  EXPECT_TRUE(environment.Run({.command = Command::Shell("true")}, Soon())->success());
  ASSERT_THAT(environment.Shutdown(absl::Seconds(5)), IsOk());
  ASSERT_THAT(environment.Shutdown(absl::Seconds(5)), IsOk());
  EXPECT_TRUE(runtime_->List()->empty());
  EXPECT_THAT(environment.session(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(EnvironmentTest, WhatNativeCannotDoIsRefused) {
  SessionSpec spec = Spec();
  spec.container.mounts = {{.source = work_, .target = "/inside"}};
  Environment moved(runtime_.get(), spec);
  EXPECT_THAT(moved.Init(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/inside")));
  spec = Spec();
  spec.container.ports = {{.inside = 80, .host = 8080}};
  Environment mapped(runtime_.get(), spec);
  EXPECT_THAT(mapped.Init(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("8080")));
  spec.container.ports = {{.inside = 80}};
  Environment same(runtime_.get(), spec);
  ASSERT_THAT(same.Init(), IsOk());
  EXPECT_EQ(*same.HostPort(80), 80);
}

}  // namespace
}  // namespace berth
