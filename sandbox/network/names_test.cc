#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sandbox/network/address.h"
#include "sandbox/network/allow_list.h"
#include "sandbox/network/host_name.h"

namespace berth::network {
namespace {

Address At(const char* text) {
  Address address;
  EXPECT_TRUE(ParseAddress(text, &address)) << text;
  return address;
}

bool Allows(const AllowList& list, const char* host, uint16_t port = 443) {
  return list.Allows(ParseHost(host), port);
}

TEST(Address, PublicOnesArePublic) {
  for (const char* text : {"8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0",
                           "100.63.255.255", "100.128.0.0", "2606:4700::1111", "2a00:1450::1",
                           "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    EXPECT_TRUE(IsPublic(At(text))) << text;
  }
}

TEST(Address, OthersAreNot) {
  for (const char* text : {"0.0.0.0",
                           "10.1.2.3",
                           "127.0.0.1",
                           "127.255.255.254",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "100.64.0.1",
                           "192.0.0.170",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fe80::1",
                           "ff02::1",
                           "2001:db8::1",
                           "::ffff:127.0.0.1",
                           "::ffff:169.254.169.254",
                           "64:ff9b::a9fe:a9fe",
                           "2002:7f00:1::",
                           "2001::1",
                           "::7f00:1",
                           "100::1"}) {
    EXPECT_FALSE(IsPublic(At(text))) << text;
  }
}

TEST(Address, IsReadStrictly) {
  Address address;
  for (const char* text : {"", "1.2.3", "01.2.3.4", "0x7f.0.0.1", "2130706433", "1.2.3.4.5",
                           "1.2.3.4 ", "::1%lo", "[::1]", "1.2.3.4/8", "localhost"}) {
    EXPECT_FALSE(ParseAddress(text, &address)) << text;
  }
  EXPECT_FALSE(ParseAddress(std::string("1.2.3.4\0", 8), &address));
}

TEST(Host, NamesAreComparedInOneForm) {
  for (const char* text : {"Example.COM", "example.com.", "EXAMPLE.com."}) {
    EXPECT_EQ(ParseHost(text), ParseHost("example.com")) << text;
  }
  EXPECT_EQ(ParseHost("xn--bcher-kva.example").kind, Host::Kind::kName);
}

TEST(Host, WhatIsNoNameIsInvalid) {
  const std::vector<std::string> wrong = {"",
                                          ".",
                                          "..",
                                          "a..b",
                                          ".a",
                                          "a.b..",
                                          "-a.com",
                                          "a-.com",
                                          "b\xc3\xbc"
                                          "cher.example",
                                          "ex ample.com",
                                          "a/b",
                                          "a@b",
                                          "127.1",
                                          "0x7f.1",
                                          "2130706433",
                                          "1.2.3.256",
                                          "0177.0.0.1",
                                          "a.0x7f",
                                          "a.com:443",
                                          "[::1",
                                          "[1.2.3.4]",
                                          "a.com\n",
                                          std::string("a\0b", 3),
                                          std::string(64, 'a') + ".com",
                                          "\xef\xbd\x85xample.com"};
  for (const std::string& text : wrong) {
    EXPECT_EQ(ParseHost(text).kind, Host::Kind::kInvalid) << text;
  }
  std::string longest;
  while (longest.size() < 254) longest += "a.";
  EXPECT_EQ(ParseHost(longest + "com").kind, Host::Kind::kInvalid);
}

TEST(Host, WithAPort) {
  Host host;
  uint16_t port = 0;
  EXPECT_TRUE(ParseHostPort("example.com:8443", 0, &host, &port));
  EXPECT_EQ(port, 8443);
  EXPECT_TRUE(ParseHostPort("[2606:4700::1]:443", 0, &host, &port));
  EXPECT_EQ(host.ToString(), "[2606:4700::1]");
  EXPECT_TRUE(ParseHostPort("[::1]", 80, &host, &port));
  EXPECT_EQ(port, 80);
  for (const char* text : {"example.com", "a:0", "a:65536", "a:", ":443", "a:44x", "::1:443",
                           "a:1:2", "a: 443", "a:+443", "[::1]443", "[::1]:"}) {
    EXPECT_FALSE(ParseHostPort(text, 0, &host, &port)) << text;
  }
}

TEST(AllowList, NamesAtTheirPortOnly) {
  AllowList list;
  ASSERT_TRUE(list.Add("Example.com"));
  ASSERT_TRUE(list.Add("plain.example:80"));
  EXPECT_TRUE(Allows(list, "example.com"));
  EXPECT_TRUE(Allows(list, "EXAMPLE.com."));
  EXPECT_TRUE(Allows(list, "plain.example", 80));
  EXPECT_FALSE(Allows(list, "plain.example"));
  EXPECT_FALSE(Allows(list, "example.com", 80));
  EXPECT_FALSE(Allows(list, "example.com", 22));
  EXPECT_FALSE(Allows(list, "www.example.com"));
  EXPECT_FALSE(Allows(list, "example.com.evil.org"));
  EXPECT_FALSE(Allows(list, "notexample.com"));
}

TEST(AllowList, AStarIsForWhatIsBelow) {
  AllowList list;
  ASSERT_TRUE(list.Add("*.example.com"));
  EXPECT_TRUE(Allows(list, "a.example.com"));
  EXPECT_TRUE(Allows(list, "a.b.example.com."));
  EXPECT_FALSE(Allows(list, "example.com"));
  EXPECT_FALSE(Allows(list, "a.example.com.evil.org"));
  EXPECT_FALSE(Allows(list, "aexample.com"));
  EXPECT_FALSE(Allows(list, "*.example.com")) << "not a host";
  EXPECT_FALSE(Allows(list, ".example.com"));
}

TEST(AllowList, AddressesOnlyIfListed) {
  AllowList list;
  ASSERT_TRUE(list.Add("example.com"));
  ASSERT_TRUE(list.Add("10.1.2.3:5432"));
  EXPECT_FALSE(Allows(list, "93.184.216.34"));
  EXPECT_TRUE(Allows(list, "10.1.2.3", 5432));
  EXPECT_FALSE(Allows(list, "10.1.2.3", 443));
  EXPECT_TRUE(list.AllowsTarget(At("93.184.216.34"), 443)) << "where an allowed name leads";
  EXPECT_FALSE(list.AllowsTarget(At("169.254.169.254"), 443));
  EXPECT_TRUE(list.AllowsTarget(At("10.1.2.3"), 5432));
  EXPECT_FALSE(list.AllowsTarget(At("10.1.2.4"), 5432));
}

TEST(AllowList, RefusesWhatIsNoRule) {
  AllowList list;
  for (const char* rule :
       {"", "*", "*.", "*.com", "a.*.com", "https://example.com", "exam ple", "*.10.0.0.1",
        "b\xc3\xbc"
        "cher.example",
        "a:0"}) {
    EXPECT_FALSE(list.Add(rule)) << rule;
  }
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace berth::network
