#include "sandbox/base/beside.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace berth {
namespace {

// As at the user's limit of processes, which root does not have.
bool ForbidClone() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{5, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Beside, IsDoneInAThreadOfItsOwnWhenItIsGone) {
  pthread_t thread = pthread_self();
  bool blocked = false;
  {
    const Beside beside([&] {
      thread = pthread_self();
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGTERM) == 1;
    });
  }
  EXPECT_FALSE(pthread_equal(thread, pthread_self()));
  EXPECT_TRUE(blocked) << "a handler of the host's could run in it";
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0) << "the caller's own mask is as it was";
}

TEST(Beside, IsDoneAtOnceWhereThereCanBeNoThread) {
  const pid_t child = fork();
  if (child == 0) {
    if (!ForbidClone()) _exit(2);
    pthread_t thread{};
    const Beside beside([&] { thread = pthread_self(); });
    _exit(pthread_equal(thread, pthread_self()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace berth
