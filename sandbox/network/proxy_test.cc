// The proxy as a process, between real sockets: ESCAPES rows 15 and 16. The tests run in a network
// namespace of their own, where 8.8.4.4 (a public address) is on the loopback and a name server of
// ours answers. What counts is what the servers saw.

#include "sandbox/network/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/wire.h"
#include "sandbox/network/address.h"
#include "sandbox/network/http_request.h"
#include "sandbox/network/listener.h"
#include "sandbox/network/proxy_config.h"
#include "sandbox/network/socks.h"
#include "sandbox/network/test_hello.h"
#include "sandbox/network/test_net.h"

namespace berth::network {
namespace {

using launcher::Message;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPublic[] = "8.8.4.4";
constexpr char kToken[] = "secret-of-this-session";
constexpr int kWaitMs = 30000;

// 0 or an errno.
int ConnectTo(const char* host, uint16_t port, UniqueFd* fd) {
  Address address;
  ParseAddress(host, &address);
  sockaddr_storage to;
  const socklen_t size = ToSockaddr(address, port, &to);
  fd->reset(socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval wait{kWaitMs / 1000, 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  return connect(fd->get(), reinterpret_cast<sockaddr*>(&to), size) == 0 ? 0 : errno;
}

// Says "seen:" and what it got with the first read, and hangs up. What it saw is also told on
// `seen`.
void Serve(int listener, int seen) {
  while (true) {
    const UniqueFd client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.ok()) return;
    char bytes[4096];
    const ssize_t n = recv(client.get(), bytes, sizeof(bytes), 0);
    if (n <= 0) continue;
    [[maybe_unused]] const ssize_t told = write(seen, bytes, static_cast<size_t>(n));
    const std::string answer = "seen:" + std::string(bytes, static_cast<size_t>(n));
    send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  }
}

class ProxyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (geteuid() != 0) return;
    ASSERT_EQ(unshare(CLONE_NEWNET), 0) << strerror(errno);
    ASSERT_TRUE(LoopbackUp());
    ASSERT_TRUE(AddToLoopback(kPublic));
  }

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a network namespace here";
    int pipes[2];
    ASSERT_EQ(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
    seen_.reset(pipes[0]);
    seen_write_.reset(pipes[1]);
    names_socket_ = Bound(SOCK_DGRAM, "127.0.0.1", 53);
    ASSERT_TRUE(names_socket_.ok());
    names_ = std::make_unique<Child>([this] {
      ServeNames(names_socket_.get(), {{"allowed.example", kPublic},
                                       {"sub.wild.example", kPublic},
                                       {"sub.wild.example.evil.example", kPublic},
                                       {"evil.example", kPublic},
                                       {"plain.example", kPublic},
                                       {"private.example", "10.0.0.1"},
                                       {"metadata.example", "169.254.169.254"},
                                       {"loop.example", "127.0.0.1"},
                                       {"loop6.example", "::1"},
                                       {"listed.example", "127.0.0.1"}});
    });
    for (const auto& [host, port] : {std::pair(kPublic, 443), std::pair(kPublic, 80),
                                     std::pair(kPublic, 8443), std::pair("127.0.0.1", 443)}) {
      listeners_.push_back(Bound(SOCK_STREAM, host, static_cast<uint16_t>(port)));
      ASSERT_TRUE(listeners_.back().ok()) << host << ":" << port;
      ASSERT_EQ(listen(listeners_.back().get(), 64), 0);
      servers_.push_back(
          std::make_unique<Child>([this] { Serve(listeners_.back().get(), seen_write_.get()); }));
    }
    StartProxy({"allowed.example", "*.wild.example", "plain.example:80", "odd.example:8443",
                "private.example", "metadata.example", "loop.example", "loop6.example",
                "gone.example"});
  }

  void StartProxy(std::vector<std::string> rules, uint32_t max_connections = 64) {
    proxy_ = nullptr;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    control_.reset(pair[0]);
    UniqueFd theirs(pair[1]);
    proxy_ = std::make_unique<Child>([&] {
      control_.reset();
      _exit(RunProxy(theirs.get()));
    });
    theirs.reset();
    ProxyConfig config;
    config.rules = std::move(rules);
    config.token = kToken;
    config.resolvers = {"127.0.0.1:53"};
    config.max_connections = max_connections;
    ASSERT_EQ(launcher::SendMessage(control_.get(), kProxyConfigure, config.Encode(), nullptr, 0),
              0);
    Message ready;
    ASSERT_EQ(launcher::ReceiveMessage(control_.get(), &ready), 0);
    ASSERT_EQ(ready.type, kProxyReady);
    ASSERT_STREQ(ready.reader().GetString(), "");
    const UniqueFd door(ListenOnLoopback(&port_));
    ASSERT_TRUE(door.ok());
    const int fd = door.get();
    ASSERT_EQ(launcher::SendMessage(control_.get(), kProxyListen, "", &fd, 1), 0);
  }

  UniqueFd Client() const {
    UniqueFd fd;
    EXPECT_EQ(ConnectTo("127.0.0.1", port_, &fd), 0);
    return fd;
  }
  static void Say(const UniqueFd& fd, const std::string& bytes) {
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // All until the other side hangs up.
  static std::string Rest(const UniqueFd& fd) {
    std::string all;
    char bytes[4096];
    ssize_t n;
    while ((n = recv(fd.get(), bytes, sizeof(bytes), 0)) > 0)
      all.append(bytes, static_cast<size_t>(n));
    EXPECT_TRUE(n == 0 || errno == ECONNRESET) << strerror(errno);
    return all;
  }
  static std::string Some(const UniqueFd& fd, size_t most) {
    std::string bytes(most, '\0');
    const ssize_t n = recv(fd.get(), bytes.data(), most, MSG_WAITALL);
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }
  static std::string ConnectHead(const std::string& target, const std::string& token = kToken) {
    return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target +
           "\r\nProxy-Authorization: Basic " + BasicCredentials(kProxyUser, token) + "\r\n\r\n";
  }
  // Asks, and then sends `first`: all that comes back.
  std::string Connect(const std::string& target, const std::string& first) const {
    const UniqueFd fd = Client();
    Say(fd, ConnectHead(target) + first);
    return Rest(fd);
  }
  std::string Socks(const std::string& host, uint16_t port, const std::string& first,
                    const std::string& token = kToken, char command = 1) const {
    const UniqueFd fd = Client();
    Say(fd, std::string("\x05\x01\x02") + "\x01\x05" + "berth" + static_cast<char>(token.size()) +
                token + std::string("\x05", 1) + command + std::string("\x00\x03", 2) +
                static_cast<char>(host.size()) + host + static_cast<char>(port >> 8) +
                static_cast<char>(port & 255) + first);
    return Rest(fd);
  }
  // What the servers saw so far.
  std::string Seen() const {
    char bytes[65536];
    const ssize_t n = read(seen_.get(), bytes, sizeof(bytes));
    return std::string(bytes, n > 0 ? static_cast<size_t>(n) : 0);
  }
  // The next denial: "connect evil.org:443 (not on the list of domains)".
  std::string Denial() const {
    pollfd wait{control_.get(), POLLIN, 0};
    if (poll(&wait, 1, kWaitMs) != 1) return "(none)";
    Message message;
    if (launcher::ReceiveMessage(control_.get(), &message) != 0) return "(gone)";
    launcher::Reader in = message.reader();
    const std::string what = in.GetString();
    return what + " (" + in.GetString() + ")";
  }
  bool NoDenial() const {
    pollfd wait{control_.get(), POLLIN, 0};
    return poll(&wait, 1, 0) == 0;
  }
  void ExpectDenied(const std::string& target, const std::string& first,
                    const std::string& denial) {
    EXPECT_THAT(Connect(target, first), StartsWith("HTTP/1.1 403 ")) << target;
    EXPECT_EQ(Denial(), denial);
    EXPECT_EQ(Seen(), "") << target;
  }

  UniqueFd seen_, seen_write_, names_socket_, control_;
  std::vector<UniqueFd> listeners_;
  std::unique_ptr<Child> names_, proxy_;
  std::vector<std::unique_ptr<Child>> servers_;
  uint16_t port_ = 0;
};

TEST_F(ProxyTest, TheAllowedHostWorksByHttpConnect) {
  const std::string hello = MakeClientHello("allowed.example");
  EXPECT_EQ(Connect("allowed.example:443", hello),
            "HTTP/1.1 200 Connection established\r\n\r\nseen:" + hello);
  EXPECT_EQ(
      Connect("sub.wild.example:443", MakeClientHello("sub.wild.example")),
      "HTTP/1.1 200 Connection established\r\n\r\nseen:" + MakeClientHello("sub.wild.example"));
  EXPECT_TRUE(NoDenial());
}

TEST_F(ProxyTest, TheAllowedHostWorksBySocks) {
  const std::string hello = MakeClientHello("allowed.example");
  EXPECT_EQ(Socks("allowed.example", 443, hello),
            std::string("\x05\x02\x01\x00", 4) + SocksReply(kSocksDone) + "seen:" + hello);
  EXPECT_TRUE(NoDenial());
}

TEST_F(ProxyTest, CaseAndATrailingDotAreTheSameHost) {
  const std::string hello = MakeClientHello("ALLOWED.example");
  EXPECT_THAT(Connect("Allowed.Example.:443", hello), HasSubstr("seen:" + hello));
  EXPECT_TRUE(NoDenial());
}

TEST_F(ProxyTest, OtherHostsAreDenied) {
  const std::string hello = MakeClientHello("allowed.example");
  for (const char* host :
       {"evil.example", "sub.wild.example.evil.example", "wild.example", "xallowed.example"}) {
    ExpectDenied(std::string(host) + ":443", hello,
                 std::string("connect ") + host + ":443 (not on the list of domains)");
  }
  EXPECT_EQ(Socks("evil.example", 443, hello),
            std::string("\x05\x02\x01\x00", 4) + SocksReply(kSocksDenied));
  EXPECT_EQ(Denial(), "connect evil.example:443 (not on the list of domains)");
  EXPECT_EQ(Seen(), "");
}

TEST_F(ProxyTest, OtherPortsAreDenied) {
  ExpectDenied("allowed.example:8443", MakeClientHello("allowed.example"),
               "connect allowed.example:8443 (not on the list of domains)");
  ExpectDenied("allowed.example:80", "GET / HTTP/1.1\r\n\r\n",
               "connect allowed.example:80 (not on the list of domains)");
}

TEST_F(ProxyTest, AddressesAreDeniedUnlessListed) {
  const std::string hello = MakeClientHello("allowed.example");
  for (const char* address : {"8.8.4.4", "127.0.0.1", "169.254.169.254", "[::1]",
                              "[::ffff:8.8.4.4]", "[fd00:ec2::254]"}) {
    EXPECT_THAT(Connect(std::string(address) + ":443", hello), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(Denial(), HasSubstr("not on the list of domains"));
  }
  for (const char* odd : {"0x8.8.4.4", "134743044", "8.8.1028"}) {
    EXPECT_THAT(Connect(std::string(odd) + ":443", hello), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(Denial(), HasSubstr("not the name of a host"));
  }
  EXPECT_EQ(Seen(), "");
}

TEST_F(ProxyTest, NamesThatLeadInwardsAreDenied) {
  const std::map<std::string, std::string> inner = {{"private.example", "10.0.0.1"},
                                                    {"metadata.example", "169.254.169.254"},
                                                    {"loop.example", "127.0.0.1"},
                                                    {"loop6.example", "::1"}};
  for (const auto& [name, address] : inner) {
    ExpectDenied(name + ":443", MakeClientHello(name),
                 "connect " + name + ":443 (it leads to " + address + ", which is not public)");
  }
}

TEST_F(ProxyTest, APrivateAddressThatIsListedIsReachedByNameAndByItself) {
  StartProxy({"listed.example", "127.0.0.1"});
  EXPECT_THAT(Connect("listed.example:443", MakeClientHello("listed.example")), HasSubstr("seen:"));
  EXPECT_THAT(Connect("127.0.0.1:443", MakeClientHello("")), HasSubstr("seen:"));
  EXPECT_THAT(Connect("127.0.0.1:443", MakeClientHello("evil.example")),
              testing::Not(HasSubstr("seen:")));
  EXPECT_THAT(Denial(), HasSubstr("names evil.example"));
}

TEST_F(ProxyTest, InternationalNamesAreDeniedButForTheirAsciiForm) {
  ExpectDenied(
      "allowed\xe3\x80\x82"
      "example:443",
      "", "connect allowed???example:443 (not the name of a host: ASCII, or the xn-- form)");
  ExpectDenied("\xd0\xb0llowed.example:443", "",
               "connect ??llowed.example:443 (not the name of a host: ASCII, or the xn-- form)");
  ExpectDenied("xn--llowed-2of.example:443", "",
               "connect xn--llowed-2of.example:443 (not on the list of domains)");
}

TEST_F(ProxyTest, AHelloThatNamesAnotherHostReachesNobody) {
  for (const bool socks : {false, true}) {
    const std::string hello = MakeClientHello("evil.example");
    const std::string got =
        socks ? Socks("allowed.example", 443, hello) : Connect("allowed.example:443", hello);
    EXPECT_THAT(got, testing::Not(HasSubstr("seen:")));
    EXPECT_EQ(Denial(), "connect allowed.example:443 (its TLS hello names evil.example)");
  }
  Connect("allowed.example:443", MakeClientHello(""));
  EXPECT_EQ(Denial(), "connect allowed.example:443 (its TLS hello names no host)");
  Connect("allowed.example:443", MakeClientHello("allowed.example", 2));
  EXPECT_EQ(Denial(), "connect allowed.example:443 (its TLS hello is malformed)");
  Connect("allowed.example:443", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(Denial(), "connect allowed.example:443 (what was sent is not TLS)");
  EXPECT_EQ(Seen(), "");
}

TEST_F(ProxyTest, AHelloInSingleBytesIsReadWhole) {
  const std::string hello = MakeClientHello("allowed.example");
  const UniqueFd fd = Client();
  for (const char c : ConnectHead("allowed.example:443")) Say(fd, std::string(1, c));
  const std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  EXPECT_EQ(Some(fd, answer.size()), answer);
  for (const char c : hello) Say(fd, std::string(1, c));
  EXPECT_THAT(Rest(fd), StartsWith("seen:"));
}

TEST_F(ProxyTest, PlainHttpOnlyWhereItsPortIsListed) {
  const std::string proof =
      "Proxy-Authorization: Basic " + BasicCredentials(kProxyUser, kToken) + "\r\n";
  {
    const UniqueFd fd = Client();
    Say(fd, "GET http://allowed.example/ HTTP/1.1\r\n" + proof + "\r\n");
    EXPECT_THAT(Rest(fd), StartsWith("HTTP/1.1 403 "));
    EXPECT_EQ(Denial(), "connect allowed.example:80 (not on the list of domains)");
    EXPECT_EQ(Seen(), "");
  }
  // The second request is for another host of the same server: it is not passed on.
  const UniqueFd fd = Client();
  Say(fd, "POST http://plain.example/x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n" +
              proof + "\r\nabGET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  const std::string forwarded =
      "POST /x HTTP/1.1\r\nHost: plain.example\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab";
  EXPECT_EQ(Rest(fd), "seen:" + forwarded);
  EXPECT_EQ(Seen(), forwarded);
}

TEST_F(ProxyTest, WithoutTheTokenNothingIsDone) {
  const std::string hello = MakeClientHello("allowed.example");
  {
    const UniqueFd fd = Client();
    Say(fd, "CONNECT allowed.example:443 HTTP/1.1\r\n\r\n" + hello);
    EXPECT_THAT(Rest(fd), StartsWith("HTTP/1.1 407 "));
    EXPECT_TRUE(NoDenial()) << "many clients begin so";
  }
  {
    const UniqueFd fd = Client();
    Say(fd, ConnectHead("allowed.example:443", "wrong") + hello);
    EXPECT_THAT(Rest(fd), StartsWith("HTTP/1.1 407 "));
    EXPECT_EQ(Denial(), "use the proxy (wrong credentials)");
  }
  EXPECT_EQ(Socks("allowed.example", 443, hello, "wrong"), "\x05\x02\x01\x01");
  EXPECT_EQ(Denial(), "use the proxy (wrong credentials)");
  {
    const UniqueFd fd = Client();
    Say(fd, std::string("\x05\x01\x00", 3));  // "I need not prove anything"
    EXPECT_EQ(Rest(fd), "\x05\xff");
  }
  EXPECT_EQ(Seen(), "");
}

TEST_F(ProxyTest, SocksDoesNothingButConnect) {
  for (const char command : {'\x02', '\x03'}) {
    EXPECT_EQ(Socks("allowed.example", 443, "", kToken, command),
              std::string("\x05\x02\x01\x00", 4) + SocksReply(kSocksNoCommand));
    EXPECT_THAT(Denial(), HasSubstr("the proxy connects and does nothing else"));
  }
}

TEST_F(ProxyTest, AHostThatIsNotThereIsNoViolation) {
  EXPECT_THAT(Connect("gone.example:443", ""), StartsWith("HTTP/1.1 502 "));
  EXPECT_TRUE(NoDenial());
}

TEST_F(ProxyTest, GarbageIsRefusedAndTheNextIsServed) {
  for (const std::string& garbage :
       {std::string("\r\n\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"), std::string(20000, 'a'),
        std::string("\x05\x01\x02\x07 no login"), std::string(64, '\0') + "\r\n\r\n"}) {
    const UniqueFd fd = Client();
    send(fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    Rest(fd);
  }
  const std::string hello = MakeClientHello("allowed.example");
  EXPECT_THAT(Connect("allowed.example:443", hello), HasSubstr("seen:"));
}

TEST_F(ProxyTest, AtTheMostOthersWait) {
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

TEST_F(ProxyTest, ADenialIsNotLostWhenTheOwnerDoesNotRead) {
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
TEST_F(ProxyTest, AnEmptyNamespaceHasNoOtherWayOut) {
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

TEST_F(ProxyTest, KilledItClosesWhatWasOpen) {
  const UniqueFd fd = Client();
  Say(fd, ConnectHead("allowed.example:443"));
  const std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  EXPECT_EQ(Some(fd, answer.size()), answer);
  proxy_->Kill();
  EXPECT_EQ(Rest(fd), "");
  UniqueFd again;
  EXPECT_EQ(ConnectTo("127.0.0.1", port_, &again), ECONNREFUSED);
}

TEST_F(ProxyTest, EndsWithItsOwner) {
  control_.reset();
  EXPECT_EQ(proxy_->Wait(), 0);
  UniqueFd fd;
  EXPECT_EQ(ConnectTo("127.0.0.1", port_, &fd), ECONNREFUSED);
}

TEST_F(ProxyTest, RefusesWhatIsNoRuleByName) {
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
