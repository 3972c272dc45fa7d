// Scenarios 10 and 26 on docker: the owner of sessions in containers is SIGKILLed, and their
// keepers with it. After one sweep nothing is left of what was to end with it, and what was to stay
// does.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/docker_engine.h"
#include "reaper/engine.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/docker/docker_test.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

// Servers in the background, without a terminal, in a session of their own and with no parent.
constexpr char kEscapees[] =
    "nc -l -p 7001 & nohup nc -l -p 7002 >/dev/null & setsid nc -l -p 7003 & "
    "(setsid sh -c 'nc -l -p 7004 & exec sleep 1' &) ; trap '' TERM HUP; echo up; "
    "while :; do sleep 1000; done";

class DockerOrphans : public DockerTest {
 protected:
  // By identity, as it was recorded.
  static void Kill(const Identity& identity) {
    const absl::StatusOr<UniqueFd> pidfd = OpenProcess(identity);
    if (!pidfd.ok()) return;
    syscall(SYS_pidfd_send_signal, pidfd->get(), SIGKILL, nullptr, 0);
    EXPECT_THAT(WaitFd(pidfd->get(), POLLIN, Soon(), "wait for a killed process"), IsOk());
  }
  static reaper::Report Sweep(const Store& store) {
    reaper::Engines engines;
    engines.push_back(std::make_unique<reaper::DockerEngine>());
    auto report = reaper::Sweep(store, {.grace = absl::Milliseconds(200)}, engines);
    EXPECT_THAT(report, IsOk());
    return report.ok() ? *std::move(report) : reaper::Report();
  }
};

TEST_F(DockerOrphans, OfAKilledOwnerAreGoneAfterOneSweep) {
  runtime_.reset();  // a child that is forked without exec must share nothing of it
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    runtime_ = OtherRuntime();
    const auto ephemeral = Start("ephemeral", kEscapees, {.durable = false});
    const auto durable = Start("durable", kEscapees, {.durable = true});
    if (ephemeral == nullptr || durable == nullptr || write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  close(ready[1]);
  const UniqueFd reads(ready[0]);
  char byte;
  ASSERT_EQ(read(reads.get(), &byte, 1), 1);
  const auto store = Store::Open(dir_);
  ASSERT_THAT(store, IsOk());
  const Record ephemeral = *(*store)->Find("ephemeral"), durable = *(*store)->Find("durable");
  ASSERT_NE(ephemeral.container_id, "");
  kill(owner, SIGSTOP);  // so that it sees no end but its own
  Kill(ephemeral.keeper);
  kill(owner, SIGKILL);
  ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_THAT(Docker("ps -q --no-trunc"), HasSubstr(ephemeral.container_id));

  const reaper::Report report = Sweep(**store);
  EXPECT_EQ(reaper::ExitCodeOf(report), reaper::kExitDone) << reaper::ToText(report, true, false);
  EXPECT_FALSE((*store)->Find("ephemeral").ok());
  const std::string left = Docker("ps -aq --no-trunc");
  EXPECT_THAT(left, Not(HasSubstr(ephemeral.container_id)));
  EXPECT_THAT(left, HasSubstr(durable.container_id));
  EXPECT_EQ(*(*store)->Find("durable"), durable);
  EXPECT_EQ(CheckIdentity(durable.keeper), Liveness::kAlive);
  EXPECT_EQ(reaper::ExitCodeOf(Sweep(**store)), reaper::kExitNothing);
  runtime_ = OtherRuntime();
}

}  // namespace
}  // namespace berth
