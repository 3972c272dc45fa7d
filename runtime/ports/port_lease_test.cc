#include "runtime/ports/port_lease.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/ports/port.h"
#include "runtime/ports/test_process.h"
#include "sandbox/base/unique_fd.h"

namespace berth {
namespace {

class PortLeaseTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = getenv("TEST_TMPDIR");
    root_ = std::string(base != nullptr ? base : "/tmp") + "/ports.XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    dir_ = root_ + "/leases";
  }
  void TearDown() override {
    for (const std::string& name : Files()) unlink((dir_ + "/" + name).c_str());
    rmdir(dir_.c_str());
    EXPECT_EQ(rmdir(root_.c_str()), 0);
  }
  std::set<std::string> Files() const {
    std::set<std::string> names;
    DIR* dir = opendir(dir_.c_str());
    if (dir == nullptr) return names;
    while (const dirent* entry = readdir(dir)) {
      if (entry->d_name[0] != '.') names.insert(entry->d_name);
    }
    closedir(dir);
    return names;
  }
  std::string root_, dir_;
};

// 0 or errno of a stranger's bind, with SO_REUSEADDR as servers have it.
int StrangersBind(uint16_t port, in_addr_t address) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(address);
  return bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ? 0 : errno;
}

TEST_F(PortLeaseTest, HoldsThePortAgainstStrangersUntilReleased) {
  absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_);
  ASSERT_TRUE(lease.ok()) << lease.status();
  const uint16_t port = lease->port();
  EXPECT_EQ(StrangersBind(port, INADDR_LOOPBACK), EADDRINUSE);
  EXPECT_EQ(StrangersBind(port, INADDR_ANY), EADDRINUSE);
  EXPECT_FALSE(IsFreePort(port));
  EXPECT_TRUE(IsBound(port));
  EXPECT_EQ(Files(), std::set<std::string>{std::to_string(port)});
  EXPECT_TRUE(lease->Release().ok());
  EXPECT_TRUE(lease->Release().ok());
  EXPECT_EQ(lease->port(), port);
  EXPECT_TRUE(IsFreePort(port));
  EXPECT_TRUE(Files().empty());
}

TEST_F(PortLeaseTest, PreferredPortIsGivenOnce) {
  const uint16_t port = FindFreePort().value();
  absl::StatusOr<PortLease> first = PortLease::Acquire(dir_, port);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->port(), port);
  EXPECT_TRUE(absl::IsAlreadyExists(PortLease::Acquire(dir_, port).status()));
  first->ReleaseSocket();  // nobody is bound, and yet
  EXPECT_TRUE(IsFreePort(port));
  EXPECT_TRUE(absl::IsAlreadyExists(PortLease::Acquire(dir_, port).status()));
  EXPECT_EQ(Files().size(), 1u);
  EXPECT_TRUE(first->Release().ok());
  EXPECT_TRUE(PortLease::Acquire(dir_, port).ok());
}

TEST_F(PortLeaseTest, PortOfAStrangerIsRefusedAndLeavesNoFile) {
  absl::StatusOr<PortLease> stranger = PortLease::Acquire(root_ + "/other");
  ASSERT_TRUE(stranger.ok());
  UniqueFd socket = stranger->HandOver();
  ASSERT_EQ(listen(socket.get(), 1), 0);
  EXPECT_TRUE(absl::IsAlreadyExists(PortLease::Acquire(dir_, stranger->port()).status()));
  EXPECT_TRUE(Files().empty());
  EXPECT_TRUE(stranger->Release().ok());
  EXPECT_EQ(rmdir((root_ + "/other").c_str()), 0);
}

TEST_F(PortLeaseTest, HandOverGivesTheSocketOnceAndKeepsTheLease) {
  absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_);
  ASSERT_TRUE(lease.ok());
  UniqueFd socket = lease->HandOver();
  ASSERT_TRUE(socket.ok());
  EXPECT_FALSE(lease->HandOver().ok());
  sockaddr_in name = {};
  socklen_t size = sizeof(name);
  ASSERT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
  EXPECT_EQ(ntohs(name.sin_port), lease->port());
  EXPECT_EQ(ntohl(name.sin_addr.s_addr), INADDR_LOOPBACK);
  ASSERT_EQ(listen(socket.get(), 16), 0);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_TRUE(absl::IsAlreadyExists(PortLease::Acquire(dir_, lease->port()).status()));
}

TEST_F(PortLeaseTest, ReleaseSocketLetsAProgramBindByItself) {
  absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_);
  ASSERT_TRUE(lease.ok());
  lease->ReleaseSocket();
  EXPECT_FALSE(lease->HandOver().ok());
  EXPECT_EQ(StrangersBind(lease->port(), INADDR_ANY), 0);
}

TEST_F(PortLeaseTest, MovesItsHold) {
  PortLease a = PortLease::Acquire(dir_).value();
  PortLease b = PortLease::Acquire(dir_).value();
  const uint16_t port_a = a.port(), port_b = b.port();
  EXPECT_NE(port_a, port_b);
  b = std::move(a);
  EXPECT_EQ(b.port(), port_a);
  EXPECT_FALSE(IsFreePort(port_a));
  EXPECT_TRUE(IsFreePort(port_b));
  EXPECT_EQ(Files(), std::set<std::string>{std::to_string(port_a)});
}

TEST_F(PortLeaseTest, EightProcessesWithFiftyLeasesEachNeverOverlap) {
  constexpr int kProcesses = 8, kLeases = 50;
  std::vector<TestProcess> processes;
  for (int p = 0; p < kProcesses; ++p) {
    processes.emplace_back([&](const TestProcess::Parent& parent) {
      std::vector<PortLease> leases;
      for (int i = 0; i < kLeases; ++i) {
        // Some are let go again while others look for one: files come and go under their hands.
        if (absl::StatusOr<PortLease> passing = PortLease::Acquire(dir_); passing.ok())
          passing->Release().IgnoreError();
        absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_);
        if (!lease.ok()) _exit(1);
        if (i % 2) lease->ReleaseSocket();
        leases.push_back(*std::move(lease));
        parent.Say(leases.back().port());
      }
      parent.Await();
    });
  }
  std::set<uint16_t> ports;
  for (TestProcess& process : processes) {
    for (int i = 0; i < kLeases; ++i) {
      const uint16_t port = process.Hear();
      ASSERT_NE(port, 0);
      EXPECT_TRUE(ports.insert(port).second) << port << " was given twice";
    }
  }
  EXPECT_EQ(ports.size(), static_cast<size_t>(kProcesses * kLeases));
  EXPECT_EQ(Files().size(), ports.size());
}

// All want the same few ports at once: each is had by exactly one.
TEST_F(PortLeaseTest, ARaceForOnePortHasOneWinner) {
  const uint16_t port = FindFreePort().value();
  for (int round = 0; round < 20; ++round) {
    std::vector<TestProcess> processes;
    for (int p = 0; p < 6; ++p) {
      processes.emplace_back([&](const TestProcess::Parent& parent) {
        absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_, port);
        parent.Say(lease.ok() ? 1 : absl::IsAlreadyExists(lease.status()) ? 2 : 3);
        parent.Await();
      });
    }
    int winners = 0;
    for (TestProcess& process : processes) {
      const uint16_t answer = process.Hear();
      ASSERT_TRUE(answer == 1 || answer == 2) << answer;
      winners += answer == 1;
    }
    EXPECT_EQ(winners, 1);
  }
}

TEST_F(PortLeaseTest, AKilledHolderFreesIt) {
  TestProcess holder([&](const TestProcess::Parent& parent) {
    absl::StatusOr<PortLease> lease = PortLease::Acquire(dir_);
    parent.Say(lease.ok() ? lease->port() : 0);
    parent.Await();
  });
  const uint16_t port = holder.Hear();
  ASSERT_NE(port, 0);
  EXPECT_TRUE(absl::IsAlreadyExists(PortLease::Acquire(dir_, port).status()));
  holder.Kill();
  EXPECT_EQ(Files().size(), 1u);  // its file is still there, and in nobody's way
  absl::StatusOr<PortLease> heir = PortLease::Acquire(dir_, port);
  EXPECT_TRUE(heir.ok()) << heir.status();
}

TEST_F(PortLeaseTest, RefusesADirectoryThatOthersCanReach) {
  ASSERT_EQ(mkdir(dir_.c_str(), 0700), 0);
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(PortLease::Acquire(dir_).status()));
  ASSERT_EQ(chmod(dir_.c_str(), 0700), 0);
  EXPECT_TRUE(absl::IsNotFound(PortLease::Acquire(root_ + "/no/such").status()));
  ASSERT_EQ(symlink(dir_.c_str(), (root_ + "/link").c_str()), 0);
  EXPECT_FALSE(PortLease::Acquire(root_ + "/link").ok());
  EXPECT_EQ(unlink((root_ + "/link").c_str()), 0);
}

TEST_F(PortLeaseTest, ALeaseFileThatIsASymlinkOrFifoIsNotFollowed) {
  const uint16_t port = FindFreePort().value();
  ASSERT_EQ(mkdir(dir_.c_str(), 0700), 0);
  const std::string path = dir_ + "/" + std::to_string(port);
  ASSERT_EQ(symlink("/etc/passwd", path.c_str()), 0);
  EXPECT_FALSE(PortLease::Acquire(dir_, port).ok());
  EXPECT_EQ(unlink(path.c_str()), 0);
}

}  // namespace
}  // namespace berth
