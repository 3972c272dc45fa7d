// A host whose own cgroup was killed once, as systemd does with a unit's before it starts the unit
// again. Linux 6.18 compares how often two groups were killed when a process is cloned from one
// into the other, and kills it at birth if they differ: each start would be told as a success, of a
// program that died before its first instruction.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "runtime/types.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/actor.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::ElementsAre;

// Arguments: the group, state directory, where to report. Goes into the group and starts one of
// each kind.
int RestartedHost(const std::vector<std::string>& args) {
  std::ofstream(args[0] + "/cgroup.kill") << 1 << std::flush;
  std::ofstream(args[0] + "/cgroup.procs") << getpid() << std::flush;
  auto runtime = Runtime::Create({.state_dir = args[1]});
  if (!runtime.ok()) return 1;
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  auto process = (*runtime)->Spawn({.command = Command::Shell("setsid sleep 1000 & exit 5")});
  if (!process.ok()) return 2;
  Report(args[2], absl::StrCat("process ", Describe(*(*process)->Wait(deadline))));
  if (!(*process)->Stop(absl::ZeroDuration()).ok()) return 3;
  auto session = (*runtime)->CreateSession(
      {.name = "a", .command = Command::Shell("setsid sleep 1000 & exit 6"), .durable = false});
  if (!session.ok()) return 4;
  Report(args[2], absl::StrCat("session ", Describe(*(*session)->Wait(deadline))));
  return (*session)->Destroy(absl::ZeroDuration()).ok() ? 0 : 5;
}

const Actor kRestartedHost("restarted-host", &RestartedHost);

using KilledGroup = TreeTest;

TEST_F(KilledGroup, AHostInOneStillStartsProgramsThatRun) {
  if (World::Tree() != "cgroup") GTEST_SKIP() << "this user can make no cgroup";
  Fifo reports(Path("reports"));
  const std::string group = absl::StrCat(World::Folder(), "/restarted");
  ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  const std::vector<std::string> command =
      ActorCommand({"restarted-host", group, dir_, reports.path()});
  const pid_t host = fork();
  if (host == 0) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  EXPECT_THAT(reports.Lines(2),
              ElementsAre("process exited with code 5", "session exited with code 6"));
  int status = -1;
  ASSERT_EQ(waitpid(host, &status, 0), host);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  // Helpers that are on their way out are still in it.
  const UniqueFd events(open((group + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(events.ok());
  const auto is_empty = [&events] {
    char text[256];
    const ssize_t n = pread(events.get(), text, sizeof(text), 0);
    return n > 0 && absl::StrContains(std::string(text, static_cast<size_t>(n)), "populated 0");
  };
  while (!is_empty()) {
    ASSERT_THAT(WaitFd(events.get(), POLLPRI, Soon(), "wait for helpers to go"), IsOk());
  }
  ASSERT_EQ(rmdir(group.c_str()), 0) << "groups are left in " << group;
}

}  // namespace
}  // namespace berth
