#include "runtime/docker/engine_address.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EngineAddress, UnixAndTcpAreUnderstood) {
  auto unix_socket = EngineAddress::Parse("unix:///run/x.sock");
  ASSERT_THAT(unix_socket, IsOk());
  EXPECT_TRUE(unix_socket->is_unix());
  EXPECT_EQ(unix_socket->path(), "/run/x.sock");
  for (const auto& [text, host, port] :
       {std::tuple{"tcp://10.0.0.1:1234", "10.0.0.1", 1234}, std::tuple{"tcp://host", "host", 2375},
        std::tuple{"http://host:80/", "host", 80}, std::tuple{"tcp://[::1]:99", "::1", 99},
        std::tuple{"tcp://[fe80::1]", "fe80::1", 2375}, std::tuple{"tcp://:77", "127.0.0.1", 77}}) {
    auto address = EngineAddress::Parse(text);
    ASSERT_THAT(address, IsOk()) << text;
    EXPECT_FALSE(address->is_unix());
    EXPECT_EQ(address->host(), host) << text;
    EXPECT_EQ(address->port(), port) << text;
  }
}

TEST(EngineAddress, OthersAreRefusedWithTheReason) {
  for (const char* text :
       {"", "unix://", "unix://relative", "tcp://h:0", "tcp://h:99999", "tcp://h:x", "tcp://a b",
        "tcp://a/b\r\nX: y", "gopher://x", "/var/run/docker.sock", "https://host:2376"}) {
    EXPECT_THAT(EngineAddress::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
  EXPECT_THAT(EngineAddress::Parse("unix:///" + std::string(200, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument));
  for (const char* text : {"npipe:////./pipe/x", "fd://"}) {
    EXPECT_THAT(EngineAddress::Parse(text),
                StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("DOCKER_HOST")))
        << text;
  }
}

TEST(EngineAddress, SshIsUnderstood) {
  struct Case {
    const char *text, *user, *host;
    int port;
    const char* path;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"ssh://far", "", "far", 0, ""},
           {"ssh://far/", "", "far", 0, ""},
           {"ssh://me@far.example:2222", "me", "far.example", 2222, ""},
           {"ssh://me@far/run/user/1000/docker.sock", "me", "far", 0, "/run/user/1000/docker.sock"},
           {"ssh://me%40there@far/a%20b", "me@there", "far", 0, "/a b"},
           {"ssh://me@there@far/a'b@c", "me@there", "far", 0, "/a'b@c"},
           {"ssh://DOMAIN%5Cme@far", "DOMAIN\\me", "far", 0, ""},
           {"ssh://[fe80::1]:99", "", "fe80::1", 99, ""},
           {"ssh://[::1]/s", "", "::1", 0, "/s"}}) {
    auto address = EngineAddress::Parse(each.text);
    ASSERT_THAT(address, IsOk()) << each.text;
    EXPECT_TRUE(address->is_ssh() && !address->is_unix() && !address->is_tls()) << each.text;
    EXPECT_EQ(address->text(), each.text);  // as a record has it
    EXPECT_EQ(address->ssh_user(), each.user) << each.text;
    EXPECT_EQ(address->host(), each.host) << each.text;
    EXPECT_EQ(address->port(), each.port) << each.text;
    EXPECT_EQ(address->ssh_path(), each.path) << each.text;
  }
}

TEST(EngineAddress, SshThatCouldDoSomethingElseIsRefusedByWhatItIs) {
  for (const auto& [text, what] : {std::pair{"ssh://", "host"},
                                   std::pair{"ssh:///path", "host"},
                                   std::pair{"ssh://me@", "host"},
                                   std::pair{"ssh://:22", "host"},
                                   std::pair{"ssh://[]:22", "host"},
                                   std::pair{"ssh://-oProxyCommand=x", "'-oProxyCommand=x'"},
                                   std::pair{"ssh://me@-x", "'-x'"},
                                   std::pair{"ssh://[-x]", "'[-x]'"},
                                   std::pair{"ssh://fa r", "'fa r'"},
                                   std::pair{"ssh://fa\nr", "'fa\\nr'"},
                                   std::pair{"ssh://$(x)", "'$(x)'"},
                                   std::pair{"ssh://far:0", "port"},
                                   std::pair{"ssh://far:99999", "port"},
                                   std::pair{"ssh://far:x", "port"},
                                   std::pair{"ssh://-l@far", "'-l' cannot be a user"},
                                   std::pair{"ssh://%2Dl@far", "user"},
                                   std::pair{"ssh://a b@far", "user"},
                                   std::pair{"ssh://a%0ab@far", "user"},
                                   std::pair{"ssh://a%zz@far", "user"},
                                   std::pair{"ssh://a`x`@far", "user"},
                                   std::pair{"ssh://@far", "user"},
                                   std::pair{"ssh://far?x=1", "query"},
                                   std::pair{"ssh://far/s?x=1", "query"},
                                   std::pair{"ssh://far#x", "fragment"},
                                   std::pair{"ssh://far/a%00b", "path"},
                                   std::pair{"ssh://far/a%", "path"},
                                   std::pair{"ssh://far/a\nb", "path"}}) {
    EXPECT_THAT(EngineAddress::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)))
        << text;
  }
  EXPECT_THAT(EngineAddress::Parse("ssh://far/" + std::string(200, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("path")));
}

TEST(EngineAddress, APasswordIsRefusedAndNotRepeated) {
  for (const char* text :
       {"ssh://me:sesame@far", "ssh://me:ses@me@far", "ssh://me:ses/ame@far", "ssh://:sesame@far",
        "ssh://me:sesame@-x", "ssh://me:ses#ame@far", "ssh://me:1/sesame@far?x"}) {
    const absl::Status refused = EngineAddress::Parse(text).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(refused.message(), AllOf(Not(HasSubstr("ses")), Not(HasSubstr("ame")))) << text;
  }
  EXPECT_THAT(EngineAddress::Parse("ssh://me:sesame@far"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("password")));
}

class Resolve : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_TLS"})
      unsetenv(name);
    folder_ = absl::StrCat(testing::TempDir(), "/docker-config");
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    setenv("DOCKER_CONFIG", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string folder_;
};

TEST_F(Resolve, TheDefaultIsTheSocket) {
  auto address = EngineAddress::Resolve();
  ASSERT_THAT(address, IsOk());
  EXPECT_EQ(address->text(), "unix:///var/run/docker.sock");
}

TEST_F(Resolve, DockerHostIsBeforeTheContext) {
  Write("contexts/meta/aaaa/meta.json",
        R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:1"}}})");
  Write("config.json", R"({"currentContext":"far"})");
  EXPECT_EQ(EngineAddress::Resolve()->text(), "tcp://far:1");
  setenv("DOCKER_CONTEXT", "default", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(), EngineAddress::kDefault);
  unsetenv("DOCKER_CONTEXT");
  setenv("DOCKER_HOST", "tcp://near:2", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(), "tcp://near:2");
  setenv("DOCKER_CONTEXT", "far", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(), "tcp://near:2");
}

TEST_F(Resolve, AContextThatIsNotThereOrNotReadableIsToldByName) {
  setenv("DOCKER_CONTEXT", "nowhere", 1);
  EXPECT_THAT(EngineAddress::Resolve(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
  Write("contexts/meta/aaaa/meta.json", "{\"Name\":");
  Write("contexts/meta/bbbb/meta.json", R"({"Name":"nowhere","Endpoints":[]})");
  EXPECT_THAT(EngineAddress::Resolve(), StatusIs(absl::StatusCode::kFailedPrecondition));
  unsetenv("DOCKER_CONTEXT");
  Write("config.json", "[1,2");
  EXPECT_EQ(EngineAddress::Resolve()->text(), EngineAddress::kDefault);
}

TEST_F(Resolve, WhatAsksForTlsIsNeverTalkedToWithout) {
  setenv("DOCKER_HOST", "tcp://far", 1);
  setenv("DOCKER_TLS_VERIFY", "1", 1);
  auto address = EngineAddress::Resolve();
  ASSERT_THAT(address, IsOk());
  EXPECT_TRUE(address->is_tls() && address->tls_verify());
  EXPECT_EQ(address->text(), absl::StrCat("tls://far:2376", folder_));
  setenv("DOCKER_CERT_PATH", "/certs", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(), "tls://far:2376/certs");
  unsetenv("DOCKER_TLS_VERIFY");
  setenv("DOCKER_TLS", "1", 1);
  setenv("DOCKER_HOST", "tcp://[::1]:99", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(), "tls-any://[::1]:99/certs");
  unsetenv("DOCKER_CERT_PATH");
  unsetenv("DOCKER_HOST");
  EXPECT_FALSE(EngineAddress::Resolve()->is_tls());  // a unix socket has none
  setenv("DOCKER_HOST", "ssh://me@far", 1);
  EXPECT_FALSE(EngineAddress::Resolve()->is_tls());  // nor has ssh
  unsetenv("DOCKER_HOST");
  unsetenv("DOCKER_TLS");
  Write("contexts/meta/aaaa/meta.json",
        R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:1"}}})");
  Write("contexts/tls/aaaa/docker/ca.pem", "x");
  setenv("DOCKER_CONTEXT", "far", 1);
  EXPECT_EQ(EngineAddress::Resolve()->text(),
            absl::StrCat("tls://far:1", folder_, "/contexts/tls/aaaa/docker"));
  Write("contexts/meta/aaaa/meta.json",
        R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:1","SkipTLSVerify":true}}})");
  EXPECT_FALSE(EngineAddress::Resolve()->tls_verify());
  Write("contexts/meta/aaaa/meta.json",
        R"({"Name":"far","Endpoints":{"docker":{"Host":"ssh://me@far"}}})");
  EXPECT_EQ(EngineAddress::Resolve()->text(), "ssh://me@far");
}

TEST(EngineAddress, TakesBackTheTextOfAnEngineWithTls) {
  for (const char* text : {"tls://far:2376/certs", "tls-any://[::1]:99/a b/c"}) {
    auto address = EngineAddress::Parse(text);
    ASSERT_THAT(address, IsOk()) << text;
    EXPECT_EQ(address->text(), text);
    EXPECT_TRUE(address->is_tls() && !address->is_unix());
    EXPECT_EQ(address->tls_verify(), text[3] == ':');
  }
  EXPECT_EQ(EngineAddress::Parse("tls-any://[::1]:99/a b/c")->tls_folder(), "/a b/c");
  EXPECT_EQ(EngineAddress::Parse("tls-any://[::1]:99/a b/c")->host(), "::1");
  for (const char* text : {"tls://far:2376", "tls://far/", "tls://far:0/x", "tls:///\n"})
    EXPECT_THAT(EngineAddress::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
}

}  // namespace
}  // namespace berth
