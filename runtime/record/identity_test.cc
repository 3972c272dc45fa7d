#include "runtime/record/identity.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/record/proc_stat.h"
#include "runtime/record/test_dir.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;

std::string StatWithComm(const std::string& comm) {
  return absl::StrCat("42 (", comm,
                      ") S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 98765 1 2 3\n");
}

TEST(ProcStat, SurvivesAnyComm) {
  for (const char* comm :
       {"sh", "", " ", ")", "(", ") R 1 1 1", "a) (b", "x\ny", ") S 1 2 3 4 5 6 7 8 9 "}) {
    const std::optional<ProcStat> stat = ParseProcStat(StatWithComm(comm));
    ASSERT_TRUE(stat.has_value()) << comm;
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->threads, 3);
    EXPECT_EQ(stat->start_time, 98765u);
  }
}

TEST(ProcStat, RefusesWhatIsCutOff) {
  const std::string whole = StatWithComm("sh");
  const size_t enough = whole.find("98765") + 1;
  for (size_t length = 0; length < enough; ++length) {
    EXPECT_FALSE(ParseProcStat(whole.substr(0, length)).has_value()) << length;
  }
}

TEST(Identity, OfSelfIsAliveAndTheSameEachTime) {
  const absl::StatusOr<Identity> self = IdentifySelf();
  ASSERT_THAT(self, IsOk());
  EXPECT_EQ(self->pid, getpid());
  EXPECT_EQ(self->boot_id.size(), 36u);
  EXPECT_GT(self->start_time, 0u);
  EXPECT_EQ(*IdentifySelf(), *self);
  EXPECT_EQ(CheckIdentity(*self), Liveness::kAlive);
  EXPECT_THAT(OpenProcess(*self), IsOk());
}

TEST(Identity, OfAProcessWithAHostileNameIsRead) {
  TestChild child([](int ready) {
    prctl(PR_SET_NAME, ") Z 1 (x y");
    SayReady(ready);
  });
  ASSERT_TRUE(child.ready());
  const absl::StatusOr<Identity> identity = IdentifyProcess(child.pid());
  ASSERT_THAT(identity, IsOk());
  EXPECT_EQ(CheckIdentity(*identity), Liveness::kAlive);
}

TEST(Identity, EachDifferenceMeansAnotherProcess) {
  const Identity self = *IdentifySelf();
  Identity other = self;
  ++other.start_time;
  EXPECT_EQ(CheckIdentity(other), Liveness::kDead);
  EXPECT_THAT(OpenProcess(other), StatusIs(absl::StatusCode::kNotFound));
  other = self;
  other.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(CheckIdentity(other), Liveness::kDead);
  EXPECT_THAT(OpenProcess(other), StatusIs(absl::StatusCode::kNotFound));
  if (self.pidfs_inode != 0) {
    other = self;
    ++other.pidfs_inode;
    EXPECT_EQ(CheckIdentity(other), Liveness::kDead);
  }
}

TEST(Identity, ThatProvesNothingIsUnknown) {
  EXPECT_EQ(CheckIdentity(Identity()), Liveness::kUnknown);
  const Identity self = *IdentifySelf();
  for (const int64_t pid :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 32, (int64_t{1} << 32) + getpid()}) {
    Identity other = self;
    other.pid = pid;
    EXPECT_NE(CheckIdentity(other), Liveness::kAlive) << pid;
    EXPECT_FALSE(OpenProcess(other).ok()) << pid;
  }
  Identity elsewhere = self;
  ++elsewhere.pid_namespace;
  EXPECT_EQ(CheckIdentity(elsewhere), Liveness::kUnknown);
  EXPECT_THAT(OpenProcess(elsewhere), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(Identity, OfAZombieIsDead) {
  TestChild child([](int ready) { SayReady(ready); });
  const Identity identity = *IdentifyProcess(child.pid());
  child.Kill();
  child.WaitUntilZombie();
  EXPECT_EQ(CheckIdentity(identity), Liveness::kDead);
  EXPECT_THAT(OpenProcess(identity), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(IdentifyProcess(child.pid()), StatusIs(absl::StatusCode::kNotFound));
  child.KillAndReap();
  EXPECT_EQ(CheckIdentity(identity), Liveness::kDead);
}

TEST(Identity, OfAStoppedProcessIsAliveButNotAwake) {
  const IdentityChecker checker;
  TestChild child([](int ready) {
    SayReady(ready);
    while (true) pause();
  });
  ASSERT_TRUE(child.ready());
  const Identity identity = *IdentifyProcess(child.pid());
  EXPECT_TRUE(checker.IsAwake(identity));
  int status = 0;
  ASSERT_EQ(kill(child.pid(), SIGSTOP), 0);
  ASSERT_EQ(waitpid(child.pid(), &status, WUNTRACED), child.pid());
  EXPECT_FALSE(checker.IsAwake(identity));
  EXPECT_EQ(checker.Check(identity), Liveness::kAlive);
  ASSERT_EQ(kill(child.pid(), SIGCONT), 0);
  ASSERT_EQ(waitpid(child.pid(), &status, WCONTINUED), child.pid());
  EXPECT_TRUE(checker.IsAwake(identity));
  child.Kill();
  child.WaitUntilZombie();
  EXPECT_FALSE(checker.IsAwake(identity));
  child.KillAndReap();
  EXPECT_FALSE(checker.IsAwake(identity));
}

TEST(Identity, OfAnotherProcessOrPlaceIsNotAwake) {
  const IdentityChecker checker;
  const Identity self = *IdentifySelf();
  EXPECT_TRUE(checker.IsAwake(self));
  EXPECT_FALSE(checker.IsAwake(Identity()));
  Identity other = self;
  ++other.start_time;
  EXPECT_FALSE(checker.IsAwake(other));
  other = self;
  other.boot_id = "another";
  EXPECT_FALSE(checker.IsAwake(other));
  other = self;
  ++other.pid_namespace;
  EXPECT_FALSE(checker.IsAwake(other));
}

TEST(Identity, OfAProcessWhoseFirstThreadEndedIsAlive) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' runtimes cannot have the first thread joined";
#endif
  TestChild child([](int ready) {
    std::thread([ready, first = pthread_self()] {
      pthread_join(first, nullptr);
      SayReady(ready);
      while (true) pause();
    }).detach();
    syscall(SYS_exit, 0);  // this thread alone, and without unwinding through the test
  });
  ASSERT_TRUE(child.ready());
  const absl::StatusOr<Identity> identity = IdentifyProcess(child.pid());
  ASSERT_THAT(identity, IsOk());
  EXPECT_EQ(CheckIdentity(*identity), Liveness::kAlive);
}

TEST(Identity, OfAThreadIsNotAProcess) {
  std::thread([] { EXPECT_FALSE(IdentifyProcess(gettid()).ok()); }).join();
}

TEST(Identity, OpenedProcessIsTheOneMeant) {
  TestChild child([](int ready) { SayReady(ready); });
  const absl::StatusOr<UniqueFd> pidfd = OpenProcess(*IdentifyProcess(child.pid()));
  ASSERT_THAT(pidfd, IsOk());
  EXPECT_NE(fcntl(pidfd->get(), F_GETFD) & FD_CLOEXEC, 0);
  pollfd entry{pidfd->get(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0);
  child.Kill();
  EXPECT_EQ(poll(&entry, 1, 10'000), 1);
}

// The following run as the first process of a pid namespace with a /proc of its own. Codes: 0
// proven, 77 not possible here, others say what was wrong.
constexpr int kNotPossible = 77;

template <typename Body>
int InPidNamespace(bool with_proc, Body body) {
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(kNotPossible);
    const pid_t inner = fork();
    if (inner == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(kNotPossible);
      if (with_proc && mount("proc", "/proc", "proc", 0, nullptr) != 0) _exit(kNotPossible);
      _exit(body());
    }
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  waitpid(outer, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

pid_t ForkWithPid(pid_t wanted) {
  const int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
  const std::string last = absl::StrCat(wanted - 1);
  if (fd < 0 || write(fd, last.data(), last.size()) != static_cast<ssize_t>(last.size())) return -1;
  close(fd);
  const pid_t pid = fork();
  if (pid == 0) {
    while (true) pause();
  }
  return pid;
}

TEST(Identity, PidThatIsUsedAgainIsAnotherProcess) {
  const int result = InPidNamespace(true, [] {
    const pid_t first = ForkWithPid(500);
    if (first < 0) return kNotPossible;
    if (first != 500) return 1;
    const absl::StatusOr<Identity> identity = IdentifyProcess(first);
    if (!identity.ok() || CheckIdentity(*identity) != Liveness::kAlive) return 2;
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    if (CheckIdentity(*identity) != Liveness::kDead) return 3;
    // Without pidfs a pid must not be used again within one clock tick: see the next test.
    if (identity->pidfs_inode == 0) return kNotPossible;
    const pid_t second = ForkWithPid(500);
    if (second != 500) return 4;
    if (CheckIdentity(*identity) != Liveness::kDead) return 5;
    if (!absl::IsNotFound(OpenProcess(*identity).status())) return 6;
    if (CheckIdentity(*IdentifyProcess(second)) != Liveness::kAlive) return 7;
    kill(second, SIGKILL);
    waitpid(second, nullptr, 0);
    return 0;
  });
  if (result == kNotPossible)
    GTEST_SKIP() << "no pid namespaces, ns_last_pid or pidfs here (run as root)";
  EXPECT_EQ(result, 0);
}

TEST(Identity, PidThatIsUsedAgainIsToldByStartTimeAlone) {
  const int result = InPidNamespace(true, [] {
    const pid_t first = ForkWithPid(500);
    if (first < 0) return kNotPossible;
    Identity identity = *IdentifyProcess(first);
    identity.pidfs_inode = 0;  // as before Linux 6.9
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    // Until the clock that start times count in has moved on, by the same forks and no sleep.
    for (int tries = 0; tries < 100'000; ++tries) {
      const pid_t second = ForkWithPid(500);
      if (second != 500) return 4;
      const bool moved = IdentifyProcess(second)->start_time != identity.start_time;
      const Liveness liveness = CheckIdentity(identity);
      kill(second, SIGKILL);
      waitpid(second, nullptr, 0);
      if (moved) return liveness == Liveness::kDead ? 0 : 5;
    }
    return 6;
  });
  if (result == kNotPossible) GTEST_SKIP() << "no pid namespaces or ns_last_pid here (run as root)";
  EXPECT_EQ(result, 0);
}

TEST(Identity, OfAnotherPidNamespaceIsUnknownThere) {
  const Identity self = *IdentifySelf();
  const int result = InPidNamespace(true, [&self] {
    if (CheckIdentity(self) != Liveness::kUnknown) return 1;
    // Pid 1 is somebody here, too: an orchestrator in a container is.
    return CheckIdentity(*IdentifySelf()) == Liveness::kAlive ? 0 : 2;
  });
  if (result == kNotPossible) GTEST_SKIP() << "no pid namespaces here (run as root)";
  EXPECT_EQ(result, 0);
}

TEST(Identity, IsUnknownWithTheProcOfAnotherNamespace) {
  const Identity self = *IdentifySelf();
  const int result = InPidNamespace(false, [&self] {
    if (CheckIdentity(self) != Liveness::kUnknown) return 1;
    return absl::IsFailedPrecondition(IdentifySelf().status()) ? 0 : 2;
  });
  if (result == kNotPossible) GTEST_SKIP() << "no pid namespaces here (run as root)";
  EXPECT_EQ(result, 0);
}

TEST(Identity, IsUnknownWithoutProc) {
  const Identity self = *IdentifySelf();
  Identity long_gone = self;
  ++long_gone.start_time;
  const int result = InPidNamespace(true, [&] {
    if (mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return kNotPossible;
    if (CheckIdentity(self) != Liveness::kUnknown) return 1;
    if (CheckIdentity(long_gone) != Liveness::kUnknown) return 2;
    return absl::IsFailedPrecondition(OpenProcess(self).status()) ? 0 : 3;
  });
  if (result == kNotPossible) GTEST_SKIP() << "no mount namespaces here (run as root)";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace berth
