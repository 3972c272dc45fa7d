// Scenario 27, for real: in a pid namespace of its own, numbers of the dead are given to strangers
// at once, and no stranger is ever signalled.

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "reaper/report.h"
#include "reaper/sweep.h"
#include "reaper/test_records.h"
#include "runtime/record/identity.h"
#include "runtime/record/record.h"
#include "runtime/record/store.h"
#include "runtime/record/test_dir.h"

namespace berth::reaper {
namespace {

// What went wrong in the namespace becomes an exit code and a line on standard error.
#define MUST(condition)                                                            \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, strerror(errno)); \
      _exit(1);                                                                    \
    }                                                                              \
  } while (false)

// A process with exactly that number.
pid_t StrangerWithPid(int64_t pid) {
  const pid_t wanted = static_cast<pid_t>(pid);
  clone_args args{};
  args.exit_signal = SIGCHLD;
  args.set_tid = reinterpret_cast<uintptr_t>(&wanted);
  args.set_tid_size = 1;
  const pid_t child = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof(args)));
  if (child == 0) {
    while (true) pause();
  }
  MUST(child == wanted);
  return child;
}

bool Runs(pid_t pid) {
  siginfo_t info = {};
  return kill(pid, 0) == 0 &&
         waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

// Runs `body` as pid 1 of a new namespace. Its exit code.
template <typename Body>
int InPidNamespace(Body body) {
  const pid_t outer = fork();
  if (outer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MUST(unshare(CLONE_NEWPID | CLONE_NEWNS) == 0);
    MUST(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
    const pid_t first = fork();
    if (first == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      MUST(mount("proc", "/proc", "proc", 0, nullptr) == 0);
      body();
      _exit(0);
    }
    int status = 0;
    MUST(waitpid(first, &status, 0) == first);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  int status = 0;
  waitpid(outer, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(PidReuse, AStrangerWithTheNumberOfADeadOwnerKeeperOrMainProcessLives) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a pid namespace here";
  const TestDir dir;
  const int code = InPidNamespace([&] {
    auto store = Store::Open(dir / "state");
    MUST(store.ok());
    const Identity owner = DeadProcess(), keeper = DeadProcess(), leader = DeadProcess();
    MakeOrphan(**store, "reused", owner, [&](Record& it) {
      it.keeper = keeper;
      it.leader = leader;
      it.tree = kTreeSubreaper;
    });
    pid_t strangers[3];
    int n = 0;
    for (const Identity* each : {&owner, &keeper, &leader}) {
      strangers[n++] = StrangerWithPid(each->pid);
    }
    const absl::StatusOr<Report> report = Sweep(**store, {});
    MUST(report.ok());
    MUST(report->done == 1 && report->failed == 0);
    MUST((*store)->List()->records.empty());
    for (const pid_t pid : strangers) MUST(Runs(pid));
  });
  EXPECT_EQ(code, 0);
}

TEST(PidReuse, AStrangerThatGetsTheNumberBetweenTermAndKillLives) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a pid namespace here";
  const TestDir dir;
  const int code = InPidNamespace([&] {
    auto store = Store::Open(dir / "state");
    MUST(store.ok());
    for (int round = 0; round < 10; ++round) {
      pid_t leader = -1;
      MakeOrphan(**store, absl::StrCat("s", round), DeadProcess(), [&](Record& it) {
        const std::string token = absl::StrCat("BERTH_TOKEN=", it.token);
        char* env[] = {const_cast<char*>(token.c_str()), nullptr};
        int ready[2];
        MUST(pipe2(ready, O_CLOEXEC) == 0);
        leader = fork();
        if (leader == 0) {
          execle("/bin/sleep", "sleep", "1000", nullptr, env);
          _exit(127);
        }
        close(ready[1]);
        char byte;
        MUST(read(ready[0], &byte, 1) == 0);  // it has executed
        close(ready[0]);
        it.leader = *IdentifyProcess(leader);
        it.tree = kTreeSubreaper;
      });
      const pid_t sweeper = fork();
      if (sweeper == 0) {
        const absl::StatusOr<Report> report = Sweep(**store, {.grace = absl::Seconds(20)});
        _exit(report.ok() && report->done == 1 ? 0 : 1);
      }
      // TERM ends it; its number is a stranger's before the reaper can go on to KILL, or just
      // after.
      int status = 0;
      MUST(waitpid(leader, &status, 0) == leader);
      MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
      const pid_t stranger = StrangerWithPid(leader);
      MUST(waitpid(sweeper, &status, 0) == sweeper);
      MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      MUST(Runs(stranger));
      kill(stranger, SIGKILL);
      MUST(waitpid(stranger, nullptr, 0) == stranger);
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace berth::reaper
