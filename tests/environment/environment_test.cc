// Environments: several processes in one place, the same on every engine.

#include "runtime/environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
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
#include "tests/environment/engine_place.h"
#include "tests/support/runtime_test.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class EnvironmentTest : public RuntimeTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    const absl::Status engine = EnginePlace::StartEngine(GetParam());
    if (absl::IsFailedPrecondition(engine)) GTEST_SKIP() << engine.message();
    ASSERT_TRUE(engine.ok()) << engine;
    RuntimeTest::SetUp();
    place_ = std::make_unique<EnginePlace>(GetParam(), work_);
    project_ = place_->project();
  }
  void TearDown() override {
    place_.reset();
    RuntimeTest::TearDown();
  }

  SessionSpec Spec() {
    SessionSpec spec;
    spec.name = "place";
    spec.env.Set("OF_THE_PLACE", "one").Set("LIST", "a");
    place_->Complete(&spec);
    return spec;
  }
  std::string Output(Environment& environment, const ProcessSpec& spec) {
    auto process = environment.Start(spec);
    EXPECT_THAT(process, IsOk());
    return process.ok() ? ReadAll((*process)->TakeStdout()->get()) : "";
  }
  bool in_container() const { return GetParam() == "docker"; }

  std::string project_;
  std::unique_ptr<EnginePlace> place_;
};

INSTANTIATE_TEST_SUITE_P(On, EnvironmentTest, testing::Values("native", "tmux", "docker", "nix"),
                         [](const auto& param) { return param.param; });

TEST_P(EnvironmentTest, ProcessesShareItsFolderAndVariables) {
  Environment environment(runtime_.get(), Spec());
  EXPECT_THAT(environment.Start({.command = Command::Shell("true")}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Init")));
  ASSERT_THAT(environment.Init(), IsOk());
  ASSERT_THAT(environment.Init(), IsOk()) << "up already";
  EXPECT_EQ((*environment.session())->Info()->backend, GetParam());
  Env more = Env::Clean();
  more.Set("OF_THE_PROCESS", "two").Append("LIST", "b", ":").Prepend("LIST", "0", ":");
  EXPECT_EQ(Output(environment,
                   {.command = Command::Shell("echo $OF_THE_PLACE $OF_THE_PROCESS $LIST; pwd -P"),
                    .env = more}),
            absl::StrCat("one two 0:a:b\n", project_, "\n"));
  EXPECT_EQ(Output(environment,
                   {.command = Command::Shell("echo $LIST${OF_THE_PROCESS-}; pwd"), .cwd = "/"}),
            "a\n/\n");
  // Also to what it did not set itself: a PATH that is the host's, the image's or the dev shell's.
  Env path = Env::Clean();
  path.Append("PATH", "/more", ":");
  EXPECT_EQ(Output(environment, {.command = Command::Shell("echo $PATH"), .env = path}),
            Output(environment, {.command = Command::Shell("echo $PATH:/more")}));
  EXPECT_EQ(Output(environment, {.command = Command::Shell("echo ${V-}")}),
            GetParam() == "nix" ? "nix\n" : "\n");
}

TEST_P(EnvironmentTest, ABinaryIsLookedForOnThePathOfThePlace) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  EXPECT_THAT(environment.CheckBinary("sh"), IsOk());
  EXPECT_THAT(environment.CheckBinary("$(touch x) no-such-program"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no-such-program")));
  EXPECT_THAT(environment.CheckBinary(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_FALSE(fs::exists(project_ + "/x"));
  // A program of the image that the host has not, or the other way round.
  EXPECT_EQ(environment.CheckBinary("g++").ok(), !in_container());
}

TEST_P(EnvironmentTest, OutputGoesWhereTheCallerSays) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd reads(fds[0]);
  UniqueFd writes(fds[1]);
  auto status = environment.Run({.command = Command::Shell("echo out; echo err >&2; exit 3"),
                                 .stdout_ = Stdio::Fd(writes.get()),
                                 .stderr_ = Stdio::Null()},
                                Soon());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->code, 3);
  writes.reset();
  EXPECT_EQ(ReadAll(reads.get()), "out\n");
}

TEST_P(EnvironmentTest, AProcessHasPipesOfItsOwn) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  auto process = environment.Start(
      {.command = Command::Shell("cat; echo end >&2; exit 4"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(process, IsOk());
  {
    const UniqueFd in = *(*process)->TakeStdin();
    ASSERT_EQ(write(in.get(), "typed", 5), 5);
  }
  EXPECT_EQ(ReadAll((*process)->TakeStdout()->get()), "typed");
  EXPECT_EQ(ReadAll((*process)->TakeStderr()->get()), "end\n");
  EXPECT_EQ((*process)->Wait(Soon())->code, 4);
  EXPECT_EQ((*process)->Wait(Soon())->code, 4) << "any number of times";
}

TEST_P(EnvironmentTest, AProcessWaitsForTheOnesItIsToldTo) {
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

TEST_P(EnvironmentTest, AProcessIsStoppedWithAllThatItStartedAndTheOthersGoOn) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  // Each has a child that holds its standard output: the end of file is the end of both.
  const char line[] = "sleep 1000 & echo up; wait";
  auto stopped = environment.Start({.command = Command::Shell(line)});
  auto other =
      environment.Start({.command = Command::Shell("read line; exit 5"), .stdin_ = Stdio::Pipe()});
  ASSERT_THAT(stopped, IsOk());
  ASSERT_THAT(other, IsOk());
  const UniqueFd out = *(*stopped)->TakeStdout();
  ReadUntil(out.get(), "up\n");
  ASSERT_THAT((*stopped)->Stop(absl::Seconds(5)), IsOk());
  EXPECT_EQ(ReadAll(out.get()), "");
  ASSERT_EQ(write((*other)->TakeStdin()->get(), "\n", 1), 1);
  EXPECT_EQ((*other)->Wait(Soon())->code, 5);
}

// The place itself only waits: it is there as long as nobody ends it.
TEST_P(EnvironmentTest, ItPausesWithoutAnyProcess) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  auto session = environment.session();
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ((*session)->CheckLiveness().liveness, Liveness::kAlive);
  EXPECT_EQ((*session)->Info()->state, SessionState::kRunning);
  EXPECT_GE((*session)->GetStats()->processes, 1);
}

TEST_P(EnvironmentTest, StoppedItStartsAgainAndShutDownItIsGone) {
  Environment environment(runtime_.get(), Spec());
  ASSERT_THAT(environment.Init(), IsOk());
  auto process = environment.Start({.command = Command::Shell("exec sleep 1000")});
  ASSERT_THAT(process, IsOk());
  ASSERT_THAT(environment.Stop(absl::Seconds(5)), IsOk());
  EXPECT_FALSE((*process)->Wait(Soon())->success());
  EXPECT_FALSE(environment.Start({.command = Command::Shell("true")}).ok());
  ASSERT_THAT(environment.Init(), IsOk());
  EXPECT_TRUE(environment.Run({.command = Command::Shell("true")}, Soon())->success());
  ASSERT_THAT(environment.Shutdown(absl::Seconds(5)), IsOk());
  ASSERT_THAT(environment.Shutdown(absl::Seconds(5)), IsOk());
  EXPECT_TRUE(runtime_->List()->empty());
  EXPECT_THAT(environment.session(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(EnvironmentTest, MountsAreSeenInAContainerAndRefusedWhereNothingCanMove) {
  fs::create_directories(work_ + "/more");
  std::ofstream(work_ + "/more/file") << "mounted\n";
  SessionSpec spec = Spec();
  spec.container.mounts.push_back(
      {.source = work_ + "/more", .target = "/inside", .read_only = true});
  Environment environment(runtime_.get(), spec);
  if (!in_container()) {
    EXPECT_THAT(environment.Init(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/inside")));
    return;
  }
  ASSERT_THAT(environment.Init(), IsOk());
  EXPECT_EQ(
      Output(environment, {.command = Command::Shell(
                               "cat /inside/file; (echo x >/inside/file) 2>/dev/null || echo no")}),
      "mounted\nno\n");
}

TEST_P(EnvironmentTest, PortsAreMappedForAContainerAndTheHostsOwnElsewhere) {
  SessionSpec spec = Spec();
  if (in_container()) {
    spec.container.network = "bridge";
    spec.container.ports = {{.inside = 8080}};
    Environment environment(runtime_.get(), spec);
    ASSERT_THAT(environment.Init(), IsOk());
    const auto port = environment.HostPort(8080);
    ASSERT_THAT(port, IsOk());
    EXPECT_THAT(*EnginePlace::docker().Shell("docker ps --format '{{.Ports}}'"),
                HasSubstr(absl::StrCat("127.0.0.1:", *port, "->8080")));
    EXPECT_THAT(environment.HostPort(9090), StatusIs(absl::StatusCode::kNotFound));
    return;
  }
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
