// Models behind https: certificates that the test makes are believed, refused, and another host's.

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/agent_run.h"
#include "runtime/agent/canceller.h"
#include "runtime/agent/context.h"
#include "runtime/agent/http_json.h"
#include "runtime/agent/result.h"
#include "tests/agent/agent_test.h"
#include "tests/agent/http_server.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Json = nlohmann::json;

class Https : public AgentTest {
 protected:
  // A certificate that vouches for itself, and its key: <name>.pem and <name>.key in work_.
  std::string Certificate(const std::string& name, const std::string& subject_name,
                          const std::string& validity) {
    const std::string path = absl::StrCat(work_, "/", name);
    const std::string line = absl::StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ", path,
        ".key -out ", path, ".pem -subj /CN=berth-test -addext subjectAltName=", subject_name, " ",
        validity, " 2>", path, ".log");
    EXPECT_EQ(system(line.c_str()), 0) << Bytes(path + ".log");
    return path;
  }
  std::unique_ptr<HttpServer> Serve(const std::string& certificate) {
    auto server = std::make_unique<HttpServer>(certificate + ".pem", certificate + ".key");
    server->OnPost("/v1/chat/completions", [](int, const httplib::Request&,
                                              httplib::Response& response) {
      const Json answer = {
          {"id", "c"}, {"choices", {{{"message", {{"role", "assistant"}, {"content", "42"}}}}}}};
      response.set_content(answer.dump(), "application/json");
    });
    server->Listen();
    return server;
  }
  absl::Status Post(const HttpServer& server, const std::string& ca_file) {
    HttpJson http({.first_pause = absl::Milliseconds(1), .ca_file = ca_file}, canceller_.get());
    return http.Post({.url = server.Url("/v1/chat/completions"), .body = "{}"}, Soon()).status();
  }

  std::unique_ptr<Canceller> canceller_ = *Canceller::Create();
};

TEST_F(Https, AModelBehindItIsAsked) {
  const std::string good = Certificate("good", "IP:127.0.0.1", "-days 2");
  const auto server = Serve(good);
  AgentContext context;
  context.agent = "openai-api";
  context.prompt = "what is 2 + 40?";
  context.place.name = "ask";
  context.state_dir = dir_;
  context.may_start_thread = true;
  context.api = {.url = server->Url("/v1"), .model = "m", .key = "key-1234567"};
  context.http.ca_file = good + ".pem";
  auto run = Start(context);
  Finish(run.get());
  EXPECT_EQ(run->status(), AgentStatus::kCompleted) << run->result().detail;
  EXPECT_EQ(run->result().text, "42");
}

TEST_F(Https, ACertificateThatNobodyVouchesForIsRefusedBeforeTheKeyIsSent) {
  const auto server = Serve(Certificate("good", "IP:127.0.0.1", "-days 2"));
  const std::string other = Certificate("other", "IP:127.0.0.1", "-days 2");
  const auto refused =
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr(server->Url()), HasSubstr("certificate is refused")));
  EXPECT_THAT(Post(*server, other + ".pem"), refused);
  EXPECT_THAT(Post(*server, /*ca_file=*/""), refused) << "this machine's own authorities";
  EXPECT_EQ(server->requests(), 0u);
}

TEST_F(Https, ACertificateOfAnotherHostIsRefused) {
  const std::string other = Certificate("other", "DNS:example.com", "-days 2");
  const auto server = Serve(other);
  EXPECT_THAT(Post(*server, other + ".pem"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another host's")));
  EXPECT_EQ(server->requests(), 0u);
}

TEST_F(Https, ACertificateWhoseTimeIsOverIsRefused) {
  const std::string old =
      Certificate("old", "IP:127.0.0.1", "-not_before 20200101000000Z -not_after 20200102000000Z");
  const auto server = Serve(old);
  EXPECT_THAT(Post(*server, old + ".pem"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("expired")));
}

TEST_F(Https, AFileThatHoldsNoAuthoritiesIsNamed) {
  const auto server = Serve(Certificate("good", "IP:127.0.0.1", "-days 2"));
  EXPECT_THAT(Post(*server, "/no/such/ca.pem"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/no/such/ca.pem")));
}

TEST_F(Https, AServerThatSpeaksPlainHttpIsUnavailable) {
  HttpServer plain;
  plain.Listen();
  HttpJson http({.max_retries = 0}, canceller_.get());
  EXPECT_THAT(
      http.Post({.url = absl::StrCat("https://127.0.0.1:", plain.port(), "/x")}, Soon()).status(),
      StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(Https, CancelStopsInTheMiddleOfARequest) {
  const std::string good = Certificate("good", "IP:127.0.0.1", "-days 2");
  HttpServer server(good + ".pem", good + ".key");
  server.OnPost("/v1/chat/completions",
                [&](int, const httplib::Request&, httplib::Response&) { server.Hold(); });
  server.Listen();
  std::thread canceller([&] {
    server.AwaitHeld();
    canceller_->Cancel();
  });
  EXPECT_THAT(Post(server, good + ".pem"), StatusIs(absl::StatusCode::kCancelled));
  canceller.join();
}

}  // namespace
}  // namespace berth
