// For tests: the proxy as a process, between real sockets, in a network namespace of their own,
// where 8.8.4.4 (a public address) is on the loopback and a name server of ours answers. What
// counts is what the servers saw.
#ifndef BERTH_SANDBOX_NETWORK_TEST_PROXY_H_
#define BERTH_SANDBOX_NETWORK_TEST_PROXY_H_

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
#include "sandbox/network/proxy.h"
#include "sandbox/network/proxy_config.h"
#include "sandbox/network/test_net.h"

namespace berth::network {

inline constexpr char kPublic[] = "8.8.4.4";
inline constexpr char kToken[] = "secret-of-this-session";
inline constexpr int kWaitMs = 30000;

// 0 or an errno.
inline int ConnectTo(const char* host, uint16_t port, UniqueFd* fd) {
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
inline void Serve(int listener, int seen) {
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
    launcher::Message ready;
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
    launcher::Message message;
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
    EXPECT_THAT(Connect(target, first), testing::StartsWith("HTTP/1.1 403 ")) << target;
    EXPECT_EQ(Denial(), denial);
    EXPECT_EQ(Seen(), "") << target;
  }

  UniqueFd seen_, seen_write_, names_socket_, control_;
  std::vector<UniqueFd> listeners_;
  std::unique_ptr<Child> names_, proxy_;
  std::vector<std::unique_ptr<Child>> servers_;
  uint16_t port_ = 0;
};

}  // namespace berth::network

#endif  // BERTH_SANDBOX_NETWORK_TEST_PROXY_H_
