// ESCAPES rows 15 and 16 from inside of a sandbox: its only way out is the proxy, which the helper
// has started for it. The test's own network namespace is the world outside: 8.8.4.4 is in it.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status_matchers.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/base/wait_fd.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/network/test_net.h"
#include "tests/escape/enclosed_test.h"
#include "tests/support/world.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPublic[] = "8.8.4.4";

class NetworkTest : public EnclosedTest, public testing::WithParamInterface<launcher::SandboxTier> {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    ASSERT_TRUE(network::LoopbackUp());
    ASSERT_TRUE(network::AddToLoopback(kPublic));
  }
  void SetUp() override {
    EnclosedTest::SetUp();
    names_socket_ = network::Bound(SOCK_DGRAM, "127.0.0.1", 53);
    ASSERT_TRUE(names_socket_.ok());
    names_ = std::make_unique<network::Child>([this] {
      network::ServeNames(names_socket_.get(),
                          {{"allowed.example", kPublic}, {"evil.example", kPublic}});
    });
    // Connections are made by the kernel; nobody has to accept them.
    server_ = network::Bound(SOCK_STREAM, kPublic, 443);
    ASSERT_EQ(listen(server_.get(), 64), 0);
  }
  void TearDown() override {
    names_ = nullptr;
    EnclosedTest::TearDown();
  }
  launcher::SandboxPlan AllowList() const {
    launcher::SandboxPlan plan = Plan();
    plan.tier = GetParam();
    plan.network = launcher::SandboxNetwork::kProxy;
    plan.proxy_port = 3128;
    plan.proxy_rules = {"allowed.example"};
    plan.proxy_token = "token";
    plan.proxy_resolvers = {"127.0.0.1:53"};
    return plan;
  }
  // A shell's line that asks the proxy for the host, and prints the first line of the answer.
  static std::string Ask(const std::string& host) {
    return absl::StrCat("exec 3<>/dev/tcp/127.0.0.1/3128 || exit 9; printf 'CONNECT ", host,
                        " HTTP/1.1\\r\\nProxy-Authorization: Basic YmVydGg6dG9rZW4=\\r\\n\\r\\n'",
                        " >&3; head -n 1 <&3; ");
  }
  Outcome Bash(const launcher::SandboxPlan& plan, const std::string& line) {
    return Run(plan, {"/bin/bash", "-c", line});
  }

  UniqueFd names_socket_, server_;
  std::unique_ptr<network::Child> names_;
};

TEST_P(NetworkTest, TheAllowedHostWorksAndOthersAreDenied) {
  EXPECT_THAT(Bash(AllowList(), Ask("allowed.example:443")).out, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Bash(AllowList(), Ask("evil.example:443")).out, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Bash(AllowList(), Ask("169.254.169.254:80")).out, StartsWith("HTTP/1.1 403 "));
}

TEST_P(NetworkTest, ADenialIsToldToTheOwner) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const UniqueFd reads(pipes[0]);
  UniqueFd writes(pipes[1]);
  const auto spawned = Start(AllowList(), {"/bin/bash", "-c", Ask("evil.example:443")}, work_,
                             writes.get(), writes.get());
  ASSERT_THAT(spawned, IsOk());
  writes.reset();
  AwaitGone(*spawned);
  const auto told = client_->Violations(spawned->pid, 0);
  ASSERT_THAT(told, IsOk());
  EXPECT_THAT(*told, HasSubstr("connect evil.example:443"));
}

// Row 15.
TEST_P(NetworkTest, NamesAndAddressesThatLookAllowedAreDeniedAndTold) {
  const char* const hosts[] = {
      "allowed.example.evil.example:443",  // below another
      "notallowed.example:443",
      "evilallowed.example:443",
      "sub.allowed.example:443",  // only the name itself is listed
      "allowed.example:8443",     // another port
      "allowed.example:80",
      ("allow\xd0\xb5"
       "d.example:443"),  // a letter of another alphabet
      "xn--allowd-6of.example:443",
      "allowed.example@evil.example:443",
      "allowed.example%00.evil.example:443",
      "8.8.4.4:443",  // where the allowed one is
      "[::ffff:8.8.4.4]:443",
      "[2001:db8::1]:443",
      "127.0.0.1:53",
      "[::1]:443",
      "0x7f.1:443",
      "2130706433:443",
      "169.254.169.254:80",
      "localhost:443",
  };
  for (const char* host : hosts) {
    int pipes[2];
    ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
    const UniqueFd reads(pipes[0]);
    UniqueFd writes(pipes[1]);
    const auto spawned =
        Start(AllowList(), {"/bin/bash", "-c", Ask(host)}, work_, writes.get(), -1);
    ASSERT_THAT(spawned, IsOk());
    writes.reset();
    AwaitGone(*spawned);
    char answer[64] = {};
    EXPECT_GT(read(reads.get(), answer, sizeof(answer) - 1), 0) << host;
    EXPECT_THAT(std::string(answer), Not(StartsWith("HTTP/1.1 2"))) << host;
    const auto told = client_->Violations(spawned->pid, 0);
    ASSERT_THAT(told, IsOk());
    // One that is no name at all is a bad request, and not somebody's attempt to reach something.
    if (absl::StartsWith(answer, "HTTP/1.1 403")) {
      EXPECT_THAT(*told, HasSubstr("connect ")) << host;
    }
  }
}

TEST_P(NetworkTest, PlainHttpToAHostThatIsListedForTlsIsDenied) {
  const std::string line =
      "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://allowed.example/ HTTP/1.1\\r\\nHost: "
      "allowed.example\\r\\nProxy-Authorization: Basic YmVydGg6dG9rZW4=\\r\\n\\r\\n' >&3; "
      "head -n 1 <&3";
  EXPECT_THAT(Bash(AllowList(), line).out, StartsWith("HTTP/1.1 403 "));
}

TEST_P(NetworkTest, WithoutTheTokenNothingIsReached) {
  const std::string line =
      "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT allowed.example:443 "
      "HTTP/1.1\\r\\n\\r\\n' >&3; head -n 1 <&3";
  EXPECT_THAT(Bash(AllowList(), line).out, StartsWith("HTTP/1.1 407 "));
}

TEST_P(NetworkTest, WithoutTheProxyNothingIsReached) {
  const Outcome outcome =
      Bash(AllowList(),
           "for to in tcp/8.8.4.4/443 tcp/127.0.0.1/53 udp/8.8.4.4/53 udp/169.254.169.254/80; do "
           "(echo x > /dev/$to) 2> /dev/null && echo reached $to; done; cat /proc/net/dev");
  // A datagram to a port of its own loopback that nobody has is sent, and lost.
  EXPECT_THAT(outcome.out, Not(HasSubstr("reached tcp")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("reached udp")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("eth")));
}

TEST_P(NetworkTest, AKilledProxyLeavesNoNetwork) {
  // The program goes on once somebody has made `killed`.
  const std::string line = absl::StrCat("(", Ask("allowed.example:443"), ") > first; read x < go; ",
                                        Ask("allowed.example:443"));
  ASSERT_EQ(mkfifo(Path("go").c_str(), 0600), 0);
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const UniqueFd reads(pipes[0]);
  UniqueFd writes(pipes[1]);
  const auto spawned =
      Start(AllowList(), {"/bin/bash", "-c", line}, work_, writes.get(), writes.get());
  ASSERT_THAT(spawned, IsOk());
  writes.reset();
  // Opens once the program has opened it for reading, and so after its first answer.
  const UniqueFd go(open(Path("go").c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_THAT(Read("first"), StartsWith("HTTP/1.1 200 "));
  const std::vector<pid_t> proxies = World::MembersNamed("berth-proxy");
  ASSERT_EQ(proxies.size(), 1u);
  const UniqueFd pidfd(launcher::PidfdOpen(proxies[0]));
  ASSERT_EQ(launcher::PidfdSignal(pidfd.get(), SIGKILL), 0);
  ASSERT_THAT(WaitFd(pidfd.get(), POLLIN, absl::Now() + absl::Seconds(60), "proxy"), IsOk());
  ASSERT_EQ(write(go.get(), "\n", 1), 1);
  EXPECT_EQ(AwaitEnd(*spawned).code, 9);
  AwaitGone(*spawned);
}

TEST_P(NetworkTest, ARuleThatIsNoneStartsNothing) {
  launcher::SandboxPlan plan = AllowList();
  plan.proxy_rules = {"*.com"};
  EXPECT_THAT(Start(plan, {"/bin/touch", "ran"}, work_, -1, -1), Not(IsOk()));
  EXPECT_EQ(access(Path("ran").c_str(), F_OK), -1);
}

INSTANTIATE_TEST_SUITE_P(
    Tiers, NetworkTest,
    testing::Values(launcher::SandboxTier::kNamespaces, launcher::SandboxTier::kPooled),
    [](const auto& tier) {
      return std::string(tier.param == launcher::SandboxTier::kPooled ? "pooled" : "namespaces");
    });

}  // namespace
}  // namespace berth
