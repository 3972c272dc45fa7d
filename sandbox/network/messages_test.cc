// The parsers of what clients and name servers send.

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "sandbox/network/client_hello.h"
#include "sandbox/network/dns.h"
#include "sandbox/network/http_request.h"
#include "sandbox/network/lookup.h"
#include "sandbox/network/socks.h"
#include "sandbox/network/test_hello.h"

namespace berth::network {
namespace {

using Hello = ClientHello::State;
using Http = HttpRequest::State;

TEST(ClientHello, TellsTheName) {
  const ClientHello hello = ReadClientHello(MakeClientHello("example.com"));
  EXPECT_EQ(hello.state, Hello::kComplete);
  EXPECT_EQ(hello.name, "example.com");
}

TEST(ClientHello, WithoutANameIsCompleteToo) {
  const ClientHello hello = ReadClientHello(MakeClientHello(""));
  EXPECT_EQ(hello.state, Hello::kComplete);
  EXPECT_EQ(hello.name, "");
}

TEST(ClientHello, EveryPrefixIsPartial) {
  const std::string whole = MakeClientHello("example.com");
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(ReadClientHello(whole.substr(0, n)).state, Hello::kPartial) << n;
  }
  EXPECT_EQ(ReadClientHello(whole + "more").name, "example.com");
}

TEST(ClientHello, InSmallRecordsIsTheSame) {
  const std::string whole = MakeClientHello("example.com");
  std::string cut;
  for (const char c : whole.substr(5)) cut += std::string("\x16\x03\x01\x00\x01", 5) + c;
  EXPECT_EQ(ReadClientHello(cut).name, "example.com");
}

TEST(ClientHello, OtherProtocolsAreNotTls) {
  for (const char* text : {"GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x16\x02"}) {
    EXPECT_EQ(ReadClientHello(text).state, Hello::kNotTls) << text;
  }
}

TEST(ClientHello, TwoNamesOrTwoListsAreMalformed) {
  EXPECT_EQ(ReadClientHello(MakeClientHello("a.example", 2)).state, Hello::kMalformed);
  std::string zero("\x16\x03\x01\x00\x00", 5);
  EXPECT_EQ(ReadClientHello(zero).state, Hello::kMalformed);
  std::string huge("\x16\x03\x01\x40\x00\x01\xff\xff\xff", 9);
  EXPECT_EQ(ReadClientHello(huge).state, Hello::kMalformed);
}

TEST(HttpRequest, Connect) {
  const std::string text =
      "CONNECT Example.com:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic abc=\r\n\r\n";
  const HttpRequest request = ReadHttpRequest(text + "tail");
  ASSERT_EQ(request.state, Http::kComplete);
  EXPECT_TRUE(request.connect);
  EXPECT_EQ(request.head_bytes, text.size());
  EXPECT_EQ(request.host.name, "example.com");
  EXPECT_EQ(request.port, 443);
  EXPECT_EQ(request.credentials, "abc=");
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_EQ(ReadHttpRequest(text.substr(0, n)).state, Http::kPartial) << n;
  }
}

TEST(HttpRequest, APlainOneIsForwardedWithoutWhatIsForTheProxy) {
  const HttpRequest request = ReadHttpRequest(
      "POST http://Example.com/a?b#c HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: Basic x\r\n"
      "Proxy-Connection: keep-alive\r\nConnection: keep-alive\r\nContent-Length: 3\r\nX: "
      "y\r\n\r\n");
  ASSERT_EQ(request.state, Http::kComplete);
  EXPECT_EQ(request.forward,
            "POST /a?b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nContent-Length: 3\r\n"
            "X: y\r\n\r\n");
  EXPECT_EQ(request.body_bytes, 3u);
  EXPECT_EQ(request.port, 80);
}

TEST(HttpRequest, AHostThatIsNoneIsToldAsThat) {
  for (const char* target : {"b\xc3\xbc"
                             "cher.example:443",
                             "0x7f.1:443", "a b:443", "example.com"}) {
    const HttpRequest request =
        ReadHttpRequest(std::string("CONNECT ") + target + " HTTP/1.1\r\n\r\n");
    EXPECT_EQ(request.host.kind, Host::Kind::kInvalid) << target;
  }
}

TEST(HttpRequest, WhatCouldBeReadInTwoWaysIsMalformed) {
  for (const char* text : {
           "GET / HTTP/1.1\r\n\r\n",
           "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
           "GET\r\n\r\n",
           "GET http://a.example/ HTTP/2.0\r\n\r\n",
           "G\x01T http://a.example/ HTTP/1.1\r\n\r\n",
           "GET http://a.example/ HTTP/1.1\r\nA: b\n: c\r\n\r\n",
           "GET http://a.example/ HTTP/1.1\r\n folded\r\n\r\n",
           "GET http://a.example/ HTTP/1.1\r\nHost : a\r\n\r\n",
           "POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "POST http://a.example/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
           "CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Basic a\r\n"
           "Proxy-Authorization: Basic b\r\n\r\n",
       }) {
    EXPECT_EQ(ReadHttpRequest(text).state, Http::kMalformed) << text;
  }
  EXPECT_EQ(ReadHttpRequest(std::string(kMaxHttpHead, 'a')).state, Http::kMalformed);
}

TEST(HttpRequest, CredentialsAreEncodedAsClientsDo) {
  EXPECT_EQ(BasicCredentials("a", "b"), "YTpi");
  EXPECT_EQ(BasicCredentials("berth", "x"), "YmVydGg6eA==");
  EXPECT_EQ(BasicCredentials("berth", "xy"), "YmVydGg6eHk=");
}

TEST(Socks, ReadsItsThreeMessages) {
  EXPECT_TRUE(ReadSocksGreeting(std::string("\x05\x02\x00\x02", 4)).password);
  EXPECT_FALSE(ReadSocksGreeting(std::string("\x05\x01\x00", 3)).password);
  EXPECT_EQ(ReadSocksGreeting("\x05\x02\x02").state, SocksState::kPartial);
  EXPECT_EQ(ReadSocksGreeting("\x04").state, SocksState::kMalformed);
  const SocksLogin login = ReadSocksLogin(
      "\x01\x05"
      "berth"
      "\x02"
      "pw");
  EXPECT_EQ(login.user, "berth");
  EXPECT_EQ(login.password, "pw");
  const SocksRequest named =
      ReadSocksRequest(std::string("\x05\x01\x00\x03\x09"
                                   "a.example"
                                   "\x01\xbb",
                                   16));
  EXPECT_EQ(named.state, SocksState::kComplete);
  EXPECT_EQ(named.host.name, "a.example");
  EXPECT_EQ(named.port, 443);
  const SocksRequest address =
      ReadSocksRequest(std::string("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", 10));
  EXPECT_EQ(address.target, "127.0.0.1:80");
  EXPECT_EQ(ReadSocksRequest(std::string("\x05\x01\x00\x09\x00", 5)).state, SocksState::kMalformed);
}

TEST(Dns, AnswersOfItsOwnQuestionOnly) {
  const std::string question = DnsQuestion(0x1234, "a.example", false);
  std::string answer = question.substr(0, question.size() - 11);
  answer[2] = '\x81';
  answer[7] = 1;   // one answer
  answer[11] = 0;  // no EDNS
  EXPECT_EQ(ReadDnsAnswer(answer, question).state, DnsAnswer::State::kNone) << "cut short";
  answer += std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x08\x08\x04\x04", 16);
  const DnsAnswer found = ReadDnsAnswer(answer, question);
  ASSERT_EQ(found.state, DnsAnswer::State::kFound);
  EXPECT_EQ(ToString(found.addresses[0]), "8.8.4.4");
  EXPECT_EQ(ReadDnsAnswer(answer, DnsQuestion(0x1235, "a.example", false)).state,
            DnsAnswer::State::kIgnore);
  EXPECT_EQ(ReadDnsAnswer(answer, DnsQuestion(0x1234, "b.example", false)).state,
            DnsAnswer::State::kIgnore);
  EXPECT_EQ(ReadDnsAnswer(question, question).state, DnsAnswer::State::kIgnore);
  answer[3] = '\x82';
  EXPECT_EQ(ReadDnsAnswer(answer, question).state, DnsAnswer::State::kFailed);
  answer[3] = '\x83';
  EXPECT_EQ(ReadDnsAnswer(answer, question).state, DnsAnswer::State::kNone);
}

TEST(Dns, ServersOfResolvConf) {
  const auto servers =
      ReadResolvConf("# x\nnameserver 9.9.9.9\nnameserver\t2620:fe::fe # y\nnameserverx 1.1.1.1\n");
  ASSERT_EQ(servers.size(), 2u);
  EXPECT_EQ(ToString(servers[0].address), "9.9.9.9");
  EXPECT_EQ(ToString(servers[1].address), "2620:fe::fe");
  EXPECT_EQ(ToString(ReadResolvConf("")[0].address), "127.0.0.1");
}

}  // namespace
}  // namespace berth::network
