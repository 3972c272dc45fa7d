// A child makes calls under a filter that tells of what it refuses, and is answered as
// JudgeNotification says.

#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/seccomp/describe.h"
#include "sandbox/seccomp/filter.h"
#include "sandbox/seccomp/test_filter.h"

namespace berth::seccomp {
namespace {

using ::testing::ElementsAre;

// Runs `body` under a notifying filter, answers as the judge says, and returns what was told.
std::vector<std::string> Told(FilterSpec spec, const std::function<int()>& body) {
  spec.notify = spec.notify_connect = true;
  const std::string program = Compiled(spec);
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const int listener = Load(program, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (write(ready[1], &listener, sizeof(listener)) != sizeof(listener)) _exit(99);
    _exit(body());
  }
  const UniqueFd in(ready[0]), out(ready[1]);
  int theirs = -1;
  EXPECT_EQ(read(in.get(), &theirs, sizeof(theirs)), static_cast<ssize_t>(sizeof(theirs)));
  const UniqueFd child(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const UniqueFd listener(static_cast<int>(syscall(SYS_pidfd_getfd, child.get(), theirs, 0)));
  EXPECT_TRUE(listener.ok());
  std::vector<std::string> told;
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (WaitFdOrCancel(listener.get(), POLLIN, child.get(), deadline, "wait").ok()) {
    seccomp_notif call{};
    if (ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) break;
    char address[128];
    const iovec local{address, sizeof(address)};
    const iovec remote{reinterpret_cast<void*>(call.data.args[1]),
                       call.data.args[2] < sizeof(address) ? call.data.args[2] : sizeof(address)};
    ssize_t size = 0;
    if (call.data.nr == SYS_connect) {
      size = process_vm_readv(static_cast<pid_t>(call.pid), &local, 1, &remote, 1, 0);
    }
    const Judgement judgement =
        JudgeNotification(call.data, address, size > 0 ? static_cast<size_t>(size) : 0);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    if (judgement.goes_on) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (!judgement.goes_on) answer.error = -judgement.error;
    if (!judgement.goes_on) told.push_back(judgement.what);
    ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return told;
}

TEST(Notify, TellsWhatWasRefusedAndRefusesIt) {
  EXPECT_THAT(Told(kAgent,
                   [] {
                     if (syscall(SYS_mount, 0, 0, 0, 0, 0) == 0 || errno != EPERM) return 1;
                     if (socket(AF_PACKET, SOCK_RAW, 0) >= 0 || errno != EAFNOSUPPORT) return 2;
                     if (unshare(CLONE_NEWUSER) == 0 || errno != EPERM) return 3;
                     if (ioctl(0, TIOCSTI, "x") == 0 || errno != EPERM) return 4;
                     return 0;
                   }),
              ElementsAre("mount", "socket AF_PACKET", "unshare CLONE_NEWUSER", "ioctl TIOCSTI"));
}

TEST(Notify, TellsOfConnectionsOutsideAndLetsThoseInsideGoOn) {
  EXPECT_THAT(Told(kAgent,
                   [] {
                     const int fd = socket(AF_INET, SOCK_DGRAM, 0);
                     sockaddr_in to{};
                     to.sin_family = AF_INET;
                     to.sin_port = htons(443);
                     to.sin_addr.s_addr = htonl(0x01020304);
                     const auto* address = reinterpret_cast<sockaddr*>(&to);
                     if (connect(fd, address, sizeof(to)) == 0 || errno != ENETUNREACH) return 1;
                     to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
                     return connect(fd, address, sizeof(to)) == 0 ? 0 : 2;
                   }),
              ElementsAre("connect 1.2.3.4:443"));
}

#if defined(__x86_64__)
TEST(Notify, TellsOfForeignCalls) {
  EXPECT_THAT(Told(kAgent,
                   [] {
                     if (Int80(20) != -ENOSYS) return 1;
                     if (syscall(0x40000000 | SYS_getpid) != -1) return 2;
                     return 0;
                   }),
              ElementsAre("i386 system call 20", "x32 system call 39"));
}
#endif

}  // namespace
}  // namespace berth::seccomp
