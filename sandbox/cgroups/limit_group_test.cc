// Real bombs in real groups: ESCAPES row 20, on whatever layout this machine has. Each bomb is
// bounded, so that a limit that did not hold would fail the test and not the machine.

#include "sandbox/cgroups/limit_group.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/cgroups/layout.h"
#include "sandbox/cgroups/tree_place.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/kernel.h"

namespace berth::cgroups {
namespace {

using launcher::Cgroup;

constexpr int64_t kMemory = int64_t{48} << 20;
constexpr int64_t kBomb = 4 * kMemory;
constexpr int kWaitMs = 60000;

class LimitGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "groups are made by root here";
  }
  void TearDown() override {
    if (tree_.ok()) {
      tree_.Kill();
      AwaitEmpty();
    }
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    EXPECT_EQ(limits_.Remove(), 0);
    EXPECT_TRUE(tree_.Remove());
    for (const Hierarchy& hierarchy : layout_.v1) {
      if (!hierarchy.mounted()) continue;
      EXPECT_NE(access((hierarchy.point + "/" + name_).c_str(), F_OK), 0) << hierarchy.point;
    }
  }

  LimitGroup::Error Make(const GroupLimits& limits) {
    std::string why;
    const std::string place =
        PlaceFor(layout_, layout_.NotInV1(limits.controllers()), /*probe=*/false, &why);
    EXPECT_NE(place, "") << why;
    tree_ = Cgroup::OpenAny(place).MakeChild(name_);
    EXPECT_TRUE(tree_.ok());
    return limits_.Make(layout_, tree_.dir_fd(), name_, limits);
  }

  void AwaitEmpty() {
    while (!tree_.Empty()) {
      pollfd wait{tree_.events_fd(), POLLPRI, 0};
      ASSERT_GT(poll(&wait, 1, kWaitMs), 0) << "the tree does not end";
    }
  }

  // Runs `program` in the groups; its exit code is what it returns.
  pid_t Start(const std::function<int()>& program) {
    clone_args args{};
    args.flags = CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(tree_.dir_fd());
    args.exit_signal = SIGCHLD;
    const pid_t pid = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof(args)));
    if (pid != 0) return pid;
    if (EnterGroups(limits_.enter_fds().data(), static_cast<int>(limits_.enter_fds().size())) != 0)
      _exit(125);
    _exit(program());
  }

  // As waitpid gives it.
  static int End(pid_t pid) {
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  void AwaitEvent() {
    std::vector<pollfd> fds;
    limits_.AppendPoll(&fds);
    ASSERT_FALSE(fds.empty());
    ASSERT_GT(poll(fds.data(), fds.size(), kWaitMs), 0) << "no event came";
    limits_.Acknowledge();
  }

  void ExpectOomOf(const std::function<int()>& bomb) {
    ASSERT_EQ(Make({.memory_bytes = kMemory, .swap_bytes = 0}).error, 0);
    EXPECT_EQ(limits_.OomKills(), 0);
    const int status = End(Start(bomb));
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    AwaitEvent();
    EXPECT_GE(limits_.OomKills(), 1);
    EXPECT_EQ(limits_.RefusedForks(), 0);
  }

  const Layout layout_ = Layout::Read();
  const std::string name_ = "berth-limit-test-" + std::to_string(getpid());
  Cgroup tree_;
  LimitGroup limits_;
};

bool FillFile(int fd, int64_t bytes) {
  static char page[1 << 16];
  memset(page, 'x', sizeof(page));
  for (int64_t written = 0; written < bytes;) {
    const ssize_t n = write(fd, page, sizeof(page));
    if (n <= 0) return false;
    written += n;
  }
  return true;
}

TEST_F(LimitGroupTest, AHeapBombIsKilled) {
  ExpectOomOf([] {
    void* heap = mmap(nullptr, kBomb, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED) return 1;
    memset(heap, 1, kBomb);
    return 0;
  });
}

TEST_F(LimitGroupTest, AMemfdBombIsKilled) {
  ExpectOomOf([] { return FillFile(memfd_create("bomb", MFD_CLOEXEC), kBomb) ? 0 : 1; });
}

TEST_F(LimitGroupTest, ATmpfsBombIsKilled) {
  ExpectOomOf([] {
    const int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return 2;
    return FillFile(fd, kBomb) ? 0 : 1;
  });
}

TEST_F(LimitGroupTest, ThePageCacheIsReclaimedAndKillsNobody) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .swap_bytes = 0}).error, 0);
  char path[] = "/var/tmp/berth-page-cache-XXXXXX";
  const int fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) GTEST_SKIP() << "no file on a disk can be made here";
  unlink(path);
  const pid_t pid = Start([fd] { return FillFile(fd, kBomb) ? 0 : 1; });
  close(fd);
  const int status = End(pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(limits_.OomKills(), 0);
}

TEST_F(LimitGroupTest, OneThatIsModestLives) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .swap_bytes = 0, .pids = 8}).error, 0);
  const int status =
      End(Start([] { return FillFile(memfd_create("modest", MFD_CLOEXEC), kMemory / 4) ? 7 : 1; }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(limits_.OomKills(), 0);
}

TEST_F(LimitGroupTest, AForkBombIsBoundedAndTold) {
  constexpr int kPids = 16;
  ASSERT_EQ(Make({.pids = kPids}).error, 0);
  int made[2];
  ASSERT_EQ(pipe2(made, O_CLOEXEC), 0);
  const UniqueFd reads(made[0]);
  UniqueFd writes(made[1]);
  // The first forks until it may not, tells how many there are, and stays with them.
  Start([fd = writes.get()] {
    int count = 1;
    for (; count < 10 * kPids; ++count) {
      // By number: a sanitizer's fork starts a thread, which counts.
      const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
      if (pid == 0) {
        while (true) pause();
      }
      if (pid < 0) break;
    }
    if (write(fd, &count, sizeof(count)) != sizeof(count)) return 1;
    while (true) pause();
  });
  writes.reset();
  int count = 0;
  ASSERT_EQ(read(reads.get(), &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
  EXPECT_EQ(count, kPids);
  AwaitEvent();
  EXPECT_GE(limits_.RefusedForks(), 1);
  EXPECT_EQ(limits_.OomKills(), 0);
  EXPECT_EQ(limits_.Pids(), kPids);
  // The host is not in the group: it forks as ever.
  const pid_t own = fork();
  if (own == 0) _exit(0);
  EXPECT_GT(own, 0);
  EXPECT_EQ(End(own), 0);
}

TEST_F(LimitGroupTest, CpuBurnersShareTheQuota) {
  ASSERT_EQ(Make({.cpu_millis = 100}).error, 0);
  constexpr int kBurners = 4;
  std::vector<pid_t> burners;
  for (int i = 0; i < kBurners; ++i) {
    burners.push_back(Start([] {
      const uint64_t end = launcher::NowNs() + 2000000000;
      while (launcher::NowNs() < end) {
      }
      return 0;
    }));
  }
  int64_t used_us = 0;
  for (const pid_t pid : burners) {
    rusage usage{};
    int status;
    ASSERT_EQ(wait4(pid, &status, 0, &usage), pid);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      used_us += t.tv_sec * 1000000 + t.tv_usec;
  }
  // A tenth of one core for two seconds, loosely; without the limit it would be all there is.
  EXPECT_LT(used_us, 1000000);
}

TEST_F(LimitGroupTest, ProcessesStartedInsideStayInside) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .swap_bytes = 0, .pids = 8, .cpu_millis = 500}).error,
            0);
  // A daemon: its parent is gone, its session another. The bomb is its.
  const int status = End(Start([] {
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        FillFile(memfd_create("bomb", MFD_CLOEXEC), kBomb);
        _exit(0);
      }
      _exit(0);
    }
    return 0;
  }));
  EXPECT_EQ(status, 0);
  AwaitEvent();
  AwaitEmpty();
  EXPECT_GE(limits_.OomKills(), 1);
}

TEST_F(LimitGroupTest, TellsWhatIsUsed) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .pids = 8}).error, 0);
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  Start([fd = ready[1]] {
    FillFile(memfd_create("some", MFD_CLOEXEC), kMemory / 4);
    if (write(fd, "r", 1) != 1) return 1;
    while (true) pause();
  });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(limits_.Pids(), 1);
  EXPECT_GE(limits_.MemoryBytes(), kMemory / 8);
  EXPECT_LE(limits_.MemoryBytes(), kMemory);
}

TEST_F(LimitGroupTest, AFrozenTreeDoesNothingUntilItIsThawedOrKilled) {
  ASSERT_EQ(Make({.pids = 8}).error, 0);
  int ping[2], pong[2];
  ASSERT_EQ(pipe2(ping, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(pong, O_CLOEXEC | O_NONBLOCK), 0);
  Start([in = ping[0], out = pong[1]] {
    char byte;
    while (read(in, &byte, 1) == 1) {
      if (write(out, &byte, 1) != 1) return 1;
    }
    return 0;
  });
  ASSERT_TRUE(tree_.Freeze(true));
  while (!tree_.Frozen()) {
    pollfd wait{tree_.events_fd(), POLLPRI, 0};
    ASSERT_GT(poll(&wait, 1, kWaitMs), 0);
  }
  char byte = 'x';
  ASSERT_EQ(write(ping[1], &byte, 1), 1);
  EXPECT_EQ(read(pong[0], &byte, 1), -1);
  ASSERT_TRUE(tree_.Freeze(false));
  pollfd wait{pong[0], POLLIN, 0};
  ASSERT_GT(poll(&wait, 1, kWaitMs), 0);
  EXPECT_EQ(read(pong[0], &byte, 1), 1);
  ASSERT_TRUE(tree_.Freeze(true));  // TearDown kills it as it is
  for (const int fd : {ping[0], ping[1], pong[0], pong[1]}) close(fd);
}

TEST_F(LimitGroupTest, WhatCannotBeSetLeavesNothingMade) {
  const LimitGroup::Error error = Make({.memory_bytes = kMemory, .pids = int64_t{1} << 40});
  EXPECT_EQ(error.error, EINVAL);
  EXPECT_EQ(error.what, "limit pids");
  EXPECT_FALSE(limits_.ok());
}

TEST_F(LimitGroupTest, WithoutATreeOrAHierarchyItIsRefused) {
  LimitGroup group;
  const LimitGroup::Error error = group.Make(Layout(), -1, "berth-nowhere", {.pids = 8});
  EXPECT_EQ(error.error, EOPNOTSUPP);
  EXPECT_FALSE(group.ok());
}

TEST_F(LimitGroupTest, WhatAKilledHelperLeftIsRemovedByName) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .pids = 8}).error, 0);
  const pid_t left = Start([] {
    while (true) pause();
    return 0;
  });
  tree_.Kill();
  AwaitEmpty();
  End(left);
  EXPECT_EQ(RemoveV1Groups(layout_, name_), 0);
  EXPECT_EQ(RemoveV1Groups(layout_, name_), 0) << "once more is fine";
  EXPECT_EQ(RemoveV1Groups(layout_, "../memory"), EINVAL);
  EXPECT_EQ(RemoveV1Groups(layout_, ""), EINVAL);
}

TEST_F(LimitGroupTest, WhatStillRunsInAV1GroupIsEndedWithIt) {
  ASSERT_EQ(Make({.memory_bytes = kMemory, .pids = 8}).error, 0);
  if (limits_.enter_fds().empty()) {
    SUCCEED() << "all is in the v2 tree";
    return;
  }
  int inside[2];
  ASSERT_EQ(pipe2(inside, O_CLOEXEC), 0);
  const pid_t left = Start([fd = inside[1]] {
    signal(SIGTERM, SIG_IGN);
    if (write(fd, "i", 1) != 1) return 1;
    while (true) pause();
  });
  char byte;
  ASSERT_EQ(read(inside[0], &byte, 1), 1);
  close(inside[0]);
  close(inside[1]);
  EXPECT_EQ(RemoveV1Groups(layout_, name_), 0);
  EXPECT_TRUE(WIFSIGNALED(End(left)));
}

}  // namespace
}  // namespace berth::cgroups
