// berth-reaper watch.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reaper/cli/cli_test.h"
#include "runtime/record/lease.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"

namespace berth::reaper {
namespace {

using ::testing::HasSubstr;

TEST_F(ReaperCli, WatchSweepsWhenAnOwnerEnds) {
  const auto store = Open("state");
  TestChild owner([&](int ready) {
    auto lease = Lease::Acquire(store->dir(), "owner");
    if (!lease.ok()) _exit(1);
    Record record;
    record.name = "watched";
    record.backend = "native";
    record.owner_id = "owner";
    auto made = store->Reserve(record);
    if (!made.ok()) _exit(2);
    made->state = kStateRunning;
    if (!store->Write(*made).ok()) _exit(3);
    SayReady(ready);
    while (true) pause();
  });
  ASSERT_TRUE(owner.ready());
  // Its output is a fifo: reading waits until it has something to tell.
  const std::string fifo = dir_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // For both, so that there is no end of file before the watch has it open.
  const UniqueFd reads(open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const pid_t watch = Start({"watch", "--state-dir", dir_ / "state"}, fifo, dir_ / "err");
  owner.KillAndReap();
  std::string text;
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (!absl::StrContains(text, "watched") &&
         WaitFd(reads.get(), POLLIN, deadline, "wait for a report").ok()) {
    char buffer[4096];
    const ssize_t got = read(reads.get(), buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
  }
  EXPECT_THAT(text, HasSubstr("ended and removed: session watched"));
  kill(watch, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(watch, &status, 0), watch);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ReadText(dir_ / "err");
  EXPECT_TRUE(store->List()->records.empty());
}

}  // namespace
}  // namespace berth::reaper
