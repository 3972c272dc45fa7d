// Scenario 20: sessions that do nothing cost nothing: no CPU, no child processes, no wake-ups.

#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/runtime.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "tests/support/test_backend.h"
#include "tests/support/tree_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;

constexpr int kSessions = 200;

// What holds the trees has no part in it while they idle: one of the two ways for the full time.
absl::Duration IdleTime() { return absl::Seconds(World::Tree() == "cgroup" ? 60 : 5); }

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int64_t Field(const std::string& text, const std::string& name) {
  int64_t value = -1;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() == 2 && parts[0] == name && absl::SimpleAtoi(parts[1], &value)) return value;
  }
  return value;
}

struct Use {
  int64_t run_ns = 0;  // on a CPU, to the nanosecond: far finer than the ticks of /proc/PID/stat
  int64_t wakeups = 0;
  bool operator==(const Use&) const = default;
};

std::map<pid_t, Use> UseOf(const std::vector<pid_t>& pids) {
  std::map<pid_t, Use> all;
  for (const pid_t pid : pids) {
    const std::string path = absl::StrCat("/proc/", pid);
    const std::vector<std::string> schedstat = absl::StrSplit(ReadText(path + "/schedstat"), ' ');
    Use use;
    if (!absl::SimpleAtoi(schedstat[0], &use.run_ns)) use.run_ns = -1;
    use.wakeups = Field(ReadText(path + "/status"), "voluntary_ctxt_switches:");
    all[pid] = use;
  }
  return all;
}

void Pass(absl::Duration time) {
  const UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  itimerspec when{};
  when.it_value = absl::ToTimespec(time);
  ASSERT_EQ(timerfd_settime(timer.get(), 0, &when, nullptr), 0);
  ASSERT_THAT(WaitFd(timer.get(), POLLIN, absl::Now() + 10 * time, "timer"), IsOk());
}

using Idle = TreeTest;

TEST_F(Idle, TwoHundredSessionsUseNoCpuAndStartNothing) {
  if (!World::Exists()) GTEST_SKIP() << "processes cannot be counted: " << World::WhyNot();
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<UniqueFd> outputs;
  for (int i = 0; i < kSessions; ++i) {
    // Half of them with a terminal, each with something that it has said and a reader that read it.
    // Some of those stay, others go; some have a waiter.
    sessions.push_back(Create({.name = absl::StrCat("idle", i),
                               .command = Command::Shell("echo ready; exec sleep 1000"),
                               .pty = i % 2 == 0 || !HasPipes()}));
    ASSERT_NE(sessions.back(), nullptr);
    auto output = sessions.back()->OpenOutput({});
    ASSERT_THAT(output, IsOk());
    ReadUntil(output->fd.get(), "ready");
    if (i % 4 == 0) outputs.push_back(std::move(output->fd));
    if (i % 4 == 1) outputs.push_back(*sessions.back()->ExitFd());
  }
  std::vector<pid_t> members = World::Members();
  if (TestBackend() == "tmux") {
    ASSERT_EQ(members.size(), 3 * size_t{kSessions} + 5)
        << "a keeper, a program and a window's program each; one launcher, the server, our client "
           "of it, what ends that with us, and what holds its window";
  } else {
    ASSERT_EQ(members.size(), 2 * size_t{kSessions} + 1)
        << "a keeper and a program each, and one launcher";
  }
  Pass(absl::Milliseconds(200));  // what was under way comes to rest
  const std::map<pid_t, Use> before = UseOf(members);
  Pass(IdleTime());
  const std::map<pid_t, Use> after = UseOf(members);
  EXPECT_EQ(World::Members(), members) << "processes came or went";
  int64_t run_ns = 0, wakeups = 0;
  for (const auto& [pid, use] : after) {
    ASSERT_GE(before.at(pid).run_ns, 0);
    ASSERT_GE(before.at(pid).wakeups, 0);
    run_ns += use.run_ns - before.at(pid).run_ns;
    wakeups += use.wakeups - before.at(pid).wakeups;
  }
  RecordProperty("run_ns", static_cast<int>(run_ns));
  EXPECT_EQ(wakeups, 0);
  EXPECT_EQ(run_ns, 0);
}

}  // namespace
}  // namespace berth
