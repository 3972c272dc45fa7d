// The proxy from its start to its end: what it is told, how many it serves, what it tells of, and
// that there is no way around it or after it.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/address.h"
#include "sandbox/network/listener.h"
#include "sandbox/network/proxy.h"
#include "sandbox/network/proxy_config.h"
#include "sandbox/network/test_hello.h"
#include "sandbox/network/test_net.h"
#include "sandbox/network/test_proxy.h"

namespace berth::network {
namespace {

using launcher::Message;
using ::testing::HasSubstr;

using ProxyLifeTest = ProxyTest;

TEST_F(ProxyLifeTest, AtTheMostOthersWait) {
  StartProxy({"allowed.example"}, 2);
  UniqueFd one = Client();
  const UniqueFd two = Client();
  Say(one, "CONNECT");
  Say(two, "CONNECT");
  const UniqueFd three = Client();  // in the kernel's queue
  const std::string hello = MakeClientHello("allowed.example");
  Say(three, ConnectHead("allowed.example:443") + hello);
  one.reset();
  EXPECT_THAT(Rest(three), HasSubstr("seen:" + hello));
}

TEST_F(ProxyLifeTest, ADenialIsNotLostWhenTheOwnerDoesNotRead) {
  // More than its socket holds: the proxy counts them and goes on.
  int denied = 0;
  for (int i = 0; i < 1500; ++i) {
    const UniqueFd fd = Client();
    Say(fd, ConnectHead("evil.example:443"));
    if (Rest(fd).starts_with("HTTP/1.1 403 ")) ++denied;
  }
  EXPECT_EQ(denied, 1500);
  int told = 0;
  while (!NoDenial()) {
    Denial();
    ++told;
  }
  const UniqueFd fd = Client();
  Say(fd, ConnectHead("evil.example:443"));
  Rest(fd);
  Message message;
  ASSERT_EQ(launcher::ReceiveMessage(control_.get(), &message), 0);
  launcher::Reader in = message.reader();
  in.GetString();
  in.GetString();
  EXPECT_EQ(told + static_cast<int>(in.Get<uint32_t>()), 1500);
}

// The session's side: a namespace with nothing but its loopback and the door.
TEST_F(ProxyLifeTest, AnEmptyNamespaceHasNoOtherWayOut) {
  int done[2], killed[2];
  ASSERT_EQ(pipe2(done, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(killed, O_CLOEXEC), 0);
  Child inside([&] {
    close(done[0]);
    close(killed[1]);
    if (unshare(CLONE_NEWNET) != 0 || !LoopbackUp()) _exit(10);
    if (OpenDoor(control_.get(), 3128) != 0) _exit(11);
    UniqueFd fd;
    // Without the proxy: by address, IPv6, another's name server.
    if (ConnectTo(kPublic, 443, &fd) == 0) _exit(12);
    if (ConnectTo("2606:4700::1", 443, &fd) == 0) _exit(13);
    if (ConnectTo("169.254.169.254", 80, &fd) == 0) _exit(14);
    const std::string question(32, 'q');
    fd.reset(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage to;
    Address address;
    ParseAddress(kPublic, &address);
    const socklen_t size = ToSockaddr(address, 53, &to);
    if (sendto(fd.get(), question.data(), question.size(), 0, reinterpret_cast<sockaddr*>(&to),
               size) >= 0)
      _exit(15);
    if (ConnectTo("127.0.0.1", port_, &fd) == 0) _exit(16);  // the host's loopback is another
    // By the proxy.
    if (ConnectTo("127.0.0.1", 3128, &fd) != 0) _exit(17);
    const std::string hello = MakeClientHello("allowed.example");
    const std::string all = ConnectHead("allowed.example:443") + hello;
    if (send(fd.get(), all.data(), all.size(), MSG_NOSIGNAL) < 0) _exit(18);
    if (Rest(fd).find("seen:" + hello) == std::string::npos) _exit(19);
    // Killed: nothing is left to connect to.
    char byte = 'd';
    if (write(done[1], &byte, 1) != 1 || read(killed[0], &byte, 1) != 0) _exit(21);
    if (ConnectTo("127.0.0.1", 3128, &fd) == 0) _exit(20);
  });
  close(done[1]);
  close(killed[0]);
  char byte;
  if (read(done[0], &byte, 1) == 1) proxy_->Kill();
  close(done[0]);
  close(killed[1]);
  const int status = inside.Wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ProxyLifeTest, KilledItClosesWhatWasOpen) {
  const UniqueFd fd = Client();
  Say(fd, ConnectHead("allowed.example:443"));
  const std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  EXPECT_EQ(Some(fd, answer.size()), answer);
  proxy_->Kill();
  EXPECT_EQ(Rest(fd), "");
  UniqueFd again;
  EXPECT_EQ(ConnectTo("127.0.0.1", port_, &again), ECONNREFUSED);
}

TEST_F(ProxyLifeTest, EndsWithItsOwner) {
  control_.reset();
  EXPECT_EQ(proxy_->Wait(), 0);
  UniqueFd fd;
  EXPECT_EQ(ConnectTo("127.0.0.1", port_, &fd), ECONNREFUSED);
}

TEST_F(ProxyLifeTest, RefusesWhatIsNoRuleByName) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  Child proxy([&] { _exit(RunProxy(theirs.get())); });
  theirs.reset();
  ProxyConfig config;
  config.rules = {"fine.example", "*.com"};
  config.token = kToken;
  ASSERT_EQ(launcher::SendMessage(ours.get(), kProxyConfigure, config.Encode(), nullptr, 0), 0);
  Message ready;
  ASSERT_EQ(launcher::ReceiveMessage(ours.get(), &ready), 0);
  EXPECT_THAT(ready.reader().GetString(), HasSubstr("'*.com'"));
}

}  // namespace
}  // namespace berth::network
