#include "runtime/ports/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/ports/test_process.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

constexpr absl::Duration kSoon = absl::Seconds(10);

sockaddr_in Loopback4(uint16_t port) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

UniqueFd Bound4(uint16_t port, bool listening) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in name = Loopback4(port);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0)
      << strerror(errno);
  if (listening && listen(fd.get(), 16) != 0) ADD_FAILURE() << strerror(errno);
  return fd;
}

// Not ok() where there is no IPv6.
UniqueFd Listening6(uint16_t port, const in6_addr& address, bool dual) {
  UniqueFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int only = dual ? 0 : 1;
  setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  sockaddr_in6 name = {};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(port);
  name.sin6_addr = address;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0)
    return UniqueFd();
  listen(fd.get(), 16);
  return fd;
}

UniqueFd Connected4(uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in name = Loopback4(port);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  return fd;
}

TEST(FreePort, IsFreeAndUnbound) {
  const absl::StatusOr<uint16_t> port = FindFreePort();
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_GE(*port, 1024);
  EXPECT_TRUE(IsFreePort(*port));
  EXPECT_FALSE(IsBound(*port));
}

// One by one, of a thousand some would be the same.
TEST(FreePort, ThoseAskedForAtOnceAreDifferent) {
  const absl::StatusOr<std::vector<uint16_t>> ports = FindFreePorts(1000);
  ASSERT_TRUE(ports.ok()) << ports.status();
  EXPECT_EQ(ports->size(), 1000);
  EXPECT_EQ(std::set<uint16_t>(ports->begin(), ports->end()).size(), 1000);
  EXPECT_TRUE(FindFreePorts(0).value().empty());
  EXPECT_TRUE(absl::IsResourceExhausted(FindFreePorts(65536).status()));
}

TEST(FreePort, ZeroIsNoPort) {
  EXPECT_FALSE(IsFreePort(0));
  EXPECT_FALSE(IsBound(0));
  EXPECT_TRUE(absl::IsInvalidArgument(WaitUnbound(0, absl::Now() + kSoon)));
}

TEST(FreePort, BoundOrListeningIsNotFree) {
  for (const bool listening : {false, true}) {
    const uint16_t port = FindFreePort().value();
    UniqueFd fd = Bound4(port, listening);
    EXPECT_FALSE(IsFreePort(port));
    EXPECT_TRUE(IsBound(port));
    fd.reset();
    EXPECT_TRUE(IsFreePort(port));
    EXPECT_FALSE(IsBound(port));
  }
}

TEST(FreePort, SeesIpv6) {
  for (const bool dual : {false, true}) {
    const uint16_t port = FindFreePort().value();
    UniqueFd fd = Listening6(port, dual ? in6addr_any : in6addr_loopback, dual);
    if (!fd.ok()) GTEST_SKIP() << "no IPv6 here";
    EXPECT_FALSE(IsFreePort(port));
    EXPECT_TRUE(IsBound(port));
  }
}

TEST(FreePort, LingeringConnectionsAreNotFreeButUnbound) {
  const uint16_t port = FindFreePort().value();
  UniqueFd server = Bound4(port, true);
  UniqueFd client = Connected4(port);
  UniqueFd accepted(accept(server.get(), nullptr, nullptr));
  accepted.reset();  // the server closes first: TIME_WAIT is on its side
  client.reset();
  server.reset();
  EXPECT_TRUE(WaitUnbound(port, absl::Now() + kSoon).ok());
  EXPECT_FALSE(IsFreePort(port));
  EXPECT_TRUE(Bound4(port, true).ok());  // with SO_REUSEADDR
}

TEST(WaitUnbound, ReturnsAtOnceIfNothingIsBound) {
  EXPECT_TRUE(WaitUnbound(FindFreePort().value(), absl::InfinitePast()).ok());
}

TEST(WaitUnbound, TimesOutExactly) {
  const uint16_t port = FindFreePort().value();
  for (const bool listening : {false, true}) {
    UniqueFd fd = Bound4(port, listening);
    const absl::Time deadline = absl::Now() + absl::Milliseconds(50);
    const absl::Status status = WaitUnbound(port, deadline);
    const absl::Duration late = absl::Now() - deadline;
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_GE(late, absl::ZeroDuration());
    EXPECT_LT(late, absl::Milliseconds(20));  // a few ms, on a loaded machine
  }
  UniqueFd fd = Bound4(port, true);
  EXPECT_TRUE(absl::IsDeadlineExceeded(WaitUnbound(port, absl::InfinitePast())));
}

// A child holds the port, says so, and lets go when it is told, while we wait already or not yet.
void ExpectReturnsOnRelease(UniqueFd (*hold)(uint16_t), bool by_death) {
  for (int round = 0; round < 20; ++round) {
    const uint16_t port = FindFreePort().value();
    TestProcess holder([&](const TestProcess::Parent& parent) {
      UniqueFd fd = hold(port);
      parent.Say(fd.ok() ? port : 1);
      parent.Await();
      fd.reset();
      parent.Say(port);
      pause();
    });
    const uint16_t held = holder.Hear();
    if (held == 1) GTEST_SKIP() << "no IPv6 here";
    ASSERT_EQ(held, port);
    ASSERT_TRUE(IsBound(port));
    if (by_death) {
      holder.Signal();
    } else {
      holder.GoOn();
    }
    const absl::Time start = absl::Now();
    ASSERT_TRUE(WaitUnbound(port, start + kSoon).ok());
    EXPECT_LT(absl::Now() - start, absl::Seconds(2));
    EXPECT_TRUE(IsFreePort(port));
  }
}

TEST(WaitUnbound, ReturnsWhenAListenerCloses) {
  ExpectReturnsOnRelease([](uint16_t port) { return Bound4(port, true); }, false);
}
TEST(WaitUnbound, ReturnsWhenABoundSocketCloses) {
  ExpectReturnsOnRelease([](uint16_t port) { return Bound4(port, false); }, false);
}
TEST(WaitUnbound, ReturnsWhenTheHolderIsKilled) {
  ExpectReturnsOnRelease([](uint16_t port) { return Bound4(port, true); }, true);
}
TEST(WaitUnbound, ReturnsWhenAnIpv6ListenerCloses) {
  ExpectReturnsOnRelease([](uint16_t port) { return Listening6(port, in6addr_loopback, false); },
                         false);
}
TEST(WaitUnbound, ReturnsWhenADualStackListenerIsKilled) {
  ExpectReturnsOnRelease([](uint16_t port) { return Listening6(port, in6addr_any, true); }, true);
}

TEST(WaitUnbound, DoesNotWaitForConnectionsThatOnlyTheKernelHolds) {
  const uint16_t port = FindFreePort().value();
  TestProcess server([&](const TestProcess::Parent& parent) {
    UniqueFd listener = Bound4(port, true);
    parent.Say(port);
    UniqueFd connection(accept(listener.get(), nullptr, nullptr));
    parent.Say(port);
    pause();
  });
  ASSERT_EQ(server.Hear(), port);
  UniqueFd client = Connected4(port);  // stays open: the server's side lingers in FIN_WAIT2
  ASSERT_EQ(server.Hear(), port);
  server.Signal();
  EXPECT_TRUE(WaitUnbound(port, absl::Now() + kSoon).ok());
}

TEST(WaitUnbound, WaitsForAllOfSeveralHolders) {
  const uint16_t port = FindFreePort().value();
  UniqueFd listener = Bound4(port, true);
  TestProcess heir([&](const TestProcess::Parent& parent) {  // has the listener by fork
    parent.Say(port);
    parent.Await();
  });
  ASSERT_EQ(heir.Hear(), port);
  listener.reset();
  EXPECT_TRUE(absl::IsDeadlineExceeded(WaitUnbound(port, absl::Now() + absl::Milliseconds(30))));
  heir.GoOn();
  EXPECT_TRUE(WaitUnbound(port, absl::Now() + kSoon).ok());
}

}  // namespace
}  // namespace berth
