#include "sandbox/seccomp/describe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <initializer_list>
#include <string>

#include "gtest/gtest.h"

namespace berth::seccomp {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kNative = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kNative = AUDIT_ARCH_AARCH64;
#endif

seccomp_data Call(long number, std::initializer_list<uint64_t> args = {}) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = kNative;
  int i = 0;
  for (const uint64_t arg : args) data.args[i++] = arg;
  return data;
}

Judgement Connect(const char* host, uint16_t port) {
  sockaddr_in in{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  if (inet_pton(AF_INET, host, &in.sin_addr) == 1) {
    return JudgeNotification(Call(SYS_connect), &in, sizeof(in));
  }
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET6, host, &in6.sin6_addr), 1) << host;
  return JudgeNotification(Call(SYS_connect), &in6, sizeof(in6));
}

TEST(Describe, NamesTheCallAndWhatItWasFor) {
  EXPECT_EQ(DescribeSyscall(Call(SYS_mount)), "mount");
  EXPECT_EQ(DescribeSyscall(Call(SYS_socket, {AF_PACKET})), "socket AF_PACKET");
  EXPECT_EQ(DescribeSyscall(Call(SYS_socket, {0xfffffff00000011})), "socket AF_PACKET");
  EXPECT_EQ(DescribeSyscall(Call(SYS_socket, {999})), "socket family 999");
  EXPECT_EQ(DescribeSyscall(Call(SYS_unshare, {CLONE_NEWUSER | CLONE_NEWNS | 0x80})),
            "unshare CLONE_NEWNS|CLONE_NEWUSER|CLONE_NEWTIME");
  EXPECT_EQ(DescribeSyscall(Call(SYS_ioctl, {0, TIOCSTI})), "ioctl TIOCSTI");
  EXPECT_EQ(DescribeSyscall(Call(99999)), "system call 99999");
}

TEST(Describe, NamesForeignAbis) {
  seccomp_data data = Call(20);
  data.arch = AUDIT_ARCH_I386;
#if defined(__x86_64__)
  EXPECT_EQ(DescribeSyscall(data), "i386 system call 20");
  EXPECT_EQ(DescribeSyscall(Call(0x40000000 | 39)), "x32 system call 39");
#endif
  EXPECT_EQ(JudgeNotification(data, nullptr, 0).error, ENOSYS);
  EXPECT_FALSE(JudgeNotification(data, nullptr, 0).goes_on);
}

TEST(Judge, ConnectionsOutsideAreToldWithTheirAddress) {
  const Judgement v4 = Connect("1.2.3.4", 443);
  EXPECT_FALSE(v4.goes_on);
  EXPECT_TRUE(v4.network);
  EXPECT_EQ(v4.error, ENETUNREACH);
  EXPECT_EQ(v4.what, "connect 1.2.3.4:443");
  EXPECT_EQ(Connect("2001:db8::1", 53).what, "connect [2001:db8::1]:53");
  EXPECT_FALSE(Connect("169.254.169.254", 80).goes_on);
  EXPECT_FALSE(Connect("::ffff:1.2.3.4", 80).goes_on);
}

TEST(Judge, ConnectionsInsideGoOn) {
  for (const char* host : {"127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(Connect(host, 80).goes_on) << host;
  }
  sockaddr_un path{.sun_family = AF_UNIX, .sun_path = "/tmp/x"};
  EXPECT_TRUE(JudgeNotification(Call(SYS_connect), &path, sizeof(path)).goes_on);
}

TEST(Judge, AnAddressThatIsCutShortGoesOnToTheKernelsOwnError) {
  const char bytes[1] = {2};
  EXPECT_TRUE(JudgeNotification(Call(SYS_connect), bytes, 1).goes_on);
  EXPECT_TRUE(JudgeNotification(Call(SYS_connect), nullptr, 0).goes_on);
}

TEST(Judge, OtherCallsAreRefused) {
  EXPECT_EQ(JudgeNotification(Call(SYS_mount), nullptr, 0).error, EPERM);
  EXPECT_FALSE(JudgeNotification(Call(SYS_mount), nullptr, 0).goes_on);
  EXPECT_EQ(JudgeNotification(Call(SYS_socket, {AF_PACKET}), nullptr, 0).error, EAFNOSUPPORT);
  EXPECT_FALSE(JudgeNotification(Call(SYS_socket, {AF_PACKET}), nullptr, 0).network);
  EXPECT_TRUE(JudgeNotification(Call(SYS_socket, {AF_INET}), nullptr, 0).network);
}

}  // namespace
}  // namespace berth::seccomp
