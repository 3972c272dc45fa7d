#include "sandbox/launcher/enter/network_maker.h"

#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "gtest/gtest.h"
#include "sandbox/launcher/kernel.h"

namespace berth::launcher {
namespace {

ino_t OwnNetwork() {
  struct stat st;
  return stat("/proc/thread-self/ns/net", &st) == 0 ? st.st_ino : 0;
}

bool LoopbackIsUp() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  memcpy(request.ifr_name, "lo", 3);
  const bool up = ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0;
  close(fd);
  return up;
}

// Runs `body` as pid 1 of new user and pid namespaces and returns what it did, or -1 if there can
// be none.
int RunAsInit(const std::function<int()>& body) {
  clone_args args{};
  args.flags = CLONE_NEWUSER | CLONE_NEWPID;
  args.exit_signal = SIGCHLD;
  const long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid < 0) return -1;
  if (pid == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(static_cast<pid_t>(pid), &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int EnterOne(bool begins) {
  const ino_t before = OwnNetwork();
  NetworkMaker maker;
  if (begins) maker.Begin();
  if (maker.Enter() != 0) return 2;
  if (OwnNetwork() == before) return 3;
  return LoopbackIsUp() ? 0 : 4;
}

class NetworkMakerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (RunAsInit([] { return 0; }) != 0) GTEST_SKIP() << "no user namespaces here";
  }
};

TEST_F(NetworkMakerTest, TheCallerEntersWhatTheThreadMade) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(RunAsInit([] { return EnterOne(true); }), 0);
}

TEST_F(NetworkMakerTest, WithoutAThreadTheCallerMakesIt) {
  EXPECT_EQ(RunAsInit([] { return EnterOne(false); }), 0);
}

TEST_F(NetworkMakerTest, TheNextProcessHasTheNumberThatItWouldHaveHadWithoutTheThread) {
  const auto next = [] {
    if (EnterOne(true) != 0) return 99;
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, nullptr, 0);
    return static_cast<int>(pid);
  };
  EXPECT_EQ(RunAsInit(next), 2);
}

}  // namespace
}  // namespace berth::launcher
