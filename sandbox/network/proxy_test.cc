// Whom the proxy lets a session talk to, and how: ESCAPES rows 15 and 16.

#include <sys/socket.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/base/unique_fd.h"
#include "sandbox/network/http_request.h"
#include "sandbox/network/socks.h"
#include "sandbox/network/test_hello.h"
#include "sandbox/network/test_proxy.h"

namespace berth::network {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace berth::network
