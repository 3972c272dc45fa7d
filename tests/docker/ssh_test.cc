// An engine by ssh, as DOCKER_HOST names it. In the place of ssh is a program that looks at its
// arguments and runs the command here; the engine and the docker command are real. Each of its
// processes, and what it runs, holds a fifo open for as long as it lives.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/decide.h"
#include "reaper/docker_engine.h"
#include "runtime/docker/engine_address.h"
#include "runtime/docker/engine_client.h"
#include "runtime/docker/wait_stream.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/docker/docker_test.h"
#include "tests/docker/dockerd.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr char kStandIn[] = R"sh(#!/bin/sh
d=${0%/*}
exec 9>"$d/alive"
options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do options="$options $1"; shift; done
[ "$options $1 $2" = "$(cat "$d/options")" ] || { echo "called with$options $1 $2" >&2; exit 254; }
shift 2
case $(cat "$d/mode") in
work) echo $$ >"$d/pid"; exec sh -c "$*" ;;
refuse) echo 'me@far: Permission denied (publickey).' >&2; exit 255 ;;
stranger) echo 'Host key verification failed.' >&2; exit 255 ;;
empty) exec sh -c 'PATH=/nowhere; docker system dial-stdio' ;;
hang) echo up >&9; cat "$d/never" & exec cat "$d/never" ;;
chatty) head -c 100000 /dev/zero | tr '\0' x >&2; echo end >&2; exit 255 ;;
esac
)sh";

constexpr char kOptions[] =
    " -o ConnectTimeout=30 -o ControlMaster=no -o BatchMode=yes -T -l me -p 2222 -- far";

class Ssh : public DockerTest {
 protected:
  void SetUp() override {
    DockerTest::SetUp();
    ASSERT_NE(runtime_, nullptr);
    bin_ = work_ + "/bin";
    fs::create_directory(bin_);
    std::ofstream(bin_ + "/ssh") << kStandIn;
    fs::permissions(bin_ + "/ssh", fs::perms::owner_all);
    ASSERT_EQ(mkfifo((bin_ + "/alive").c_str(), 0600), 0);
    ASSERT_EQ(mkfifo((bin_ + "/never").c_str(), 0600), 0);
    alive_.reset(open((bin_ + "/alive").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(alive_.ok());
    path_ = getenv("PATH");
    Restore();
  }
  void TearDown() override {
    Restore();
    DockerTest::TearDown();
    ExpectNoSshIsLeft();
    setenv("PATH", path_.c_str(), 1);
    setenv("DOCKER_HOST", engine().address().c_str(), 1);
  }

  void Restore() {
    Write("mode", "work");
    Write("options", kOptions);
    setenv("PATH", absl::StrCat(bin_, ":", path_).c_str(), 1);
    unsetenv("SSH_ASKPASS_REQUIRE");
    Use(engine().socket());
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(absl::StrCat(bin_, "/", name)) << text;
  }
  void Use(const std::string& socket) {
    setenv("DOCKER_HOST", absl::StrCat("ssh://me@far:2222", socket).c_str(), 1);
  }
  void ExpectNoSshIsLeft() {
    EXPECT_THAT(WaitFd(alive_.get(), 0, Soon(), "wait for the last ssh to go"), IsOk());
  }
  static EngineAddress Address() { return *EngineAddress::Resolve(); }
  static absl::StatusOr<UniqueFd> Events(absl::Duration limit) {
    return OpenStream(Address(), "GET /v1.41/events", absl::Now() + limit);
  }
  // Streams both ways, an exec, the end and the removal.
  void ExpectASessionWorks() {
    auto session = Create({.name = "far",
                           .command = Command::Shell("read line; echo \"got $line\"; exit 7"),
                           .pty = false});
    ASSERT_THAT(session, IsOk());
    auto exec = (*session)->Exec({.command = Command::Shell("head -c 3000000 /dev/zero; exit 5")});
    ASSERT_THAT(exec, IsOk());
    auto bytes = (*exec)->TakeStdout();
    ASSERT_THAT(bytes, IsOk());
    EXPECT_EQ(ReadAll(bytes->get()).size(), 3000000u);
    EXPECT_THAT((*exec)->Wait(Soon()), IsOkAndHolds(ExitStatus{5, 0, EndReason::kExited}));
    EXPECT_EQ((*session)->CheckLiveness().liveness, Liveness::kAlive);
    EXPECT_THAT((*session)->GetStats(), IsOk());
    EXPECT_THAT((*session)->Wait(absl::Now()), StatusIs(absl::StatusCode::kDeadlineExceeded));
    auto ended = (*session)->ExitFd();
    ASSERT_THAT(ended, IsOk());
    ASSERT_THAT((*session)->Send({.text = "word"}), IsOk());
    auto output = (*session)->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    EXPECT_EQ(ReadAll(output->fd.get()), "got word\n");
    EXPECT_THAT(WaitFd(ended->get(), POLLIN, Soon(), "wait for the end"), IsOk());
    EXPECT_THAT((*session)->Wait(Soon()), IsOkAndHolds(ExitStatus{7, 0, EndReason::kExited}));
    // By its handle alone, whatever the variable says now.
    const std::string handle = (*session)->handle();
    unsetenv("DOCKER_HOST");
    auto opened = OtherRuntime()->Open(handle);
    ASSERT_THAT(opened, IsOk());
    EXPECT_THAT((*opened)->Destroy(absl::ZeroDuration()), IsOk());
    EXPECT_EQ(Docker("ps -aq"), "");
  }

  std::string bin_, path_;
  UniqueFd alive_;
};

TEST_F(Ssh, ASessionWorks) { ExpectASessionWorks(); }

TEST_F(Ssh, APathIsOneWordForTheShellOfTheOtherMachine) {
  const std::string link = engine().folder() + "/it's $(here)";
  fs::create_symlink(engine().socket(), link);
  Use(link);
  ExpectASessionWorks();
  fs::remove(link);
}

TEST_F(Ssh, StopEndsASessionThatIsDeafToTerm) {
  auto session = Start("deaf", "trap '' TERM; echo up; while :; do sleep 1000; done");
  ASSERT_NE(session, nullptr);
  auto output = session->OpenOutput({});
  ASSERT_THAT(output, IsOk());
  ReadUntil(output->fd.get(), "up");
  auto end = session->Stop(absl::Milliseconds(200));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->reason, EndReason::kStopped);
}

TEST_F(Ssh, WhatSshSaysIsToldWithTheRemedy) {
  struct Case {
    const char *mode, *says, *remedy;
  };
  for (const Case& each :
       {Case{"refuse", "Permission denied (publickey). (ssh ended with 255)", "ssh-add"},
        Case{"stranger", "Host key verification failed.", "ssh -p 2222 me@far"},
        Case{"empty", "not found", "install docker there"}}) {
    Write("mode", each.mode);
    const auto told = StatusIs(
        absl::StatusCode::kUnavailable,
        AllOf(HasSubstr("ssh://me@far:2222"), HasSubstr(each.says), HasSubstr(each.remedy)));
    EXPECT_THAT(Create({.name = "none", .command = Command::Argv({"true"})}), told);
    EXPECT_THAT(Events(absl::Seconds(30)), told);
    EXPECT_THAT(EngineClient(Address()).Version(), told);
  }
  Write("mode", "work");
  Use("/nowhere/docker.sock");
  EXPECT_THAT(EngineClient(Address()).Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("start the engine there")));
  setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(EngineClient(Address()).Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("install ssh")));
}

TEST_F(Ssh, OfOneThatSaysMuchTheBeginningIsKeptAndItIsNotHeldUp) {
  Write("mode", "chatty");
  EXPECT_THAT(EngineClient(Address()).Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("; ssh: xxxx")));
}

TEST_F(Ssh, ALoginThatIsRefusedLaterIsToldByAnExec) {
  auto session = Start("far", "cat");
  ASSERT_NE(session, nullptr);
  Write("mode", "refuse");
  EXPECT_THAT(session->Exec({.command = Command::Argv({"true"})}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Permission denied (publickey)")));
}

TEST_F(Ssh, APersonIsAskedOnlyIfTheEnvironmentSaysSo) {
  setenv("SSH_ASKPASS_REQUIRE", "force", 1);
  Write("options", " -o ConnectTimeout=30 -o ControlMaster=no -T -l me -p 2222 -- far");
  EXPECT_THAT(EngineClient(Address()).Version(), IsOk());
  unsetenv("SSH_ASKPASS_REQUIRE");
  EXPECT_THAT(EngineClient(Address()).Version(), Not(IsOk()));
  setenv("DOCKER_HOST", "ssh://far", 1);
  Write("options", " -o ConnectTimeout=30 -o ControlMaster=no -o BatchMode=yes -T -- far");
  Write("mode", "refuse");
  EXPECT_THAT(EngineClient(Address()).Version(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("Permission denied")));
}

TEST_F(Ssh, OneThatHangsCostsTheLimitAndIsEnded) {
  EngineClient client(Address());
  ASSERT_THAT(client.Version(), IsOk());
  // Its connection is lost, and the next one comes to nothing.
  Write("mode", "hang");
  pid_t pid = 0;
  std::ifstream(bin_ + "/pid") >> pid;
  ASSERT_GT(pid, 0);
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  ExpectNoSshIsLeft();
  const absl::Time began = absl::Now();
  EXPECT_THAT(client.Get("/info", absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(client.Get("/info", absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Events(absl::Milliseconds(300)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_LT(absl::Now() - began, absl::Seconds(5));
  ExpectNoSshIsLeft();
  Write("mode", "work");
  EXPECT_THAT(client.Get("/info"), IsOk());
}

TEST_F(Ssh, AClosedStreamEndsItsSsh) {
  auto events = Events(absl::Seconds(30));
  ASSERT_THAT(events, IsOk());
  EXPECT_THAT(WaitFd(alive_.get(), 0, absl::Now(), "wait"),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  events->reset();
  ExpectNoSshIsLeft();
}

TEST_F(Ssh, TheReaperHasTheEngineByTheRecord) {
  auto session = Start("watched", "cat", {.durable = true});
  ASSERT_NE(session, nullptr);
  auto store = Store::Open(dir_);
  ASSERT_THAT(store, IsOk());
  auto record = (*store)->Find("watched");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->engine_address, Address().text());
  unsetenv("DOCKER_HOST");
  reaper::DockerEngine reaped;
  reaped.Begin();
  reaped.Note(*record);
  EXPECT_EQ(reaped.Look(*record), reaper::Presence::kAlive);
  const auto events = reaped.Events(**store);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(reaped.End(*record, {.grace = absl::ZeroDuration(), .deadline = Soon()}), IsOk());
  EXPECT_THAT(WaitFd(events[0].fd.get(), POLLIN, Soon(), "wait for the event"), IsOk());
  EXPECT_TRUE(events[0].happened(events[0].fd.get()));
  EXPECT_EQ(reaped.Look(*record), reaper::Presence::kDead);
}

TEST_F(Ssh, NoneOutlivesUs) {
  runtime_.reset();  // a child that is forked without exec must share no lease of ours
  int ready[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready), 0);
  const UniqueFd ours(ready[0]);
  UniqueFd theirs(ready[1]);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    EngineClient client(Address());
    const bool asked = client.Version().ok();
    const auto events = Events(absl::Seconds(30));
    Write("mode", "hang");
    const auto hung = SendCall(Address(), "GET /_ping", absl::Now() + absl::Seconds(30));
    const bool all = asked && events.ok() && hung.ok();
    if (write(theirs.get(), all ? "+" : "-", 1) == 1) pause();
    _exit(1);
  }
  theirs.reset();
  char word = '-';
  EXPECT_EQ(read(ours.get(), &word, 1), 1);
  EXPECT_EQ(word, '+');
  EXPECT_THAT(WaitFd(alive_.get(), POLLIN, Soon(), "wait for the one that hangs"), IsOk());
  EXPECT_EQ(kill(pid, SIGKILL), 0);
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
  ExpectNoSshIsLeft();
  runtime_ = OtherRuntime();
}

}  // namespace
}  // namespace berth
