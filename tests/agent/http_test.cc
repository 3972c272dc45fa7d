// HttpJson and McpClient against a real server that is slow, broken, busy or rude.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "runtime/agent/canceller.h"
#include "runtime/agent/http_json.h"
#include "runtime/agent/mcp_client.h"
#include "tests/agent/http_server.h"

namespace berth {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

using Json = nlohmann::json;

class Http : public testing::Test {
 protected:
  absl::StatusOr<HttpReply> Post(bool repeatable = true, OnRetry on_retry = nullptr) {
    HttpJson http(options_, canceller_.get());
    HttpRequest request{.url = server_.Url("/x"), .body = "{}", .repeatable = repeatable};
    request.take = [](const HttpReply& reply) {
      return Json::parse(reply.body, nullptr, false).is_discarded()
                 ? absl::DataLossError("not JSON")
                 : absl::OkStatus();
    };
    return http.Post(request, deadline_, on_retry);
  }
  void Answer(HttpServer::Handler handler) {
    server_.OnPost("/x", std::move(handler));
    server_.Listen();
  }

  HttpServer server_;
  std::unique_ptr<Canceller> canceller_ = *Canceller::Create();
  HttpOptions options_{.first_pause = absl::Milliseconds(1)};
  absl::Time deadline_ = absl::Now() + absl::Seconds(60);
};

TEST_F(Http, TooManyRequestsIsRetriedAfterTheTimeTheServerAsksFor) {
  Answer([](int n, const httplib::Request&, httplib::Response& response) {
    if (n > 0) return response.set_content("{}", "application/json");
    response.status = 429;
    response.set_header("Retry-After", "1");
  });
  const absl::Time begun = absl::Now();
  absl::Time until;
  ASSERT_THAT(Post(true, [&](const absl::Status&, absl::Time when) { until = when; }), IsOk());
  EXPECT_GE(absl::Now() - begun, absl::Seconds(1));
  EXPECT_GE(until - begun, absl::Seconds(1));
  EXPECT_EQ(server_.requests(), 2u);
}

TEST_F(Http, AWaitThatEndsAfterTheDeadlineIsNotBegun) {
  Answer([](int, const httplib::Request&, httplib::Response& response) {
    response.status = 429;
    response.set_header("Retry-After", "3600");
  });
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(server_.requests(), 1u);
}

TEST_F(Http, ServerErrorsAreRetriedSoOftenAndNoMore) {
  Answer([](int, const httplib::Request&, httplib::Response& response) {
    response.status = 500;
    response.set_content("overloaded", "text/plain");
  });
  options_.max_retries = 3;
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("500 overloaded")));
  EXPECT_EQ(server_.requests(), 4u);
}

TEST_F(Http, WhatTheCallerGotWrongIsNotRetried) {
  Answer([](int, const httplib::Request&, httplib::Response& response) { response.status = 401; });
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(server_.requests(), 1u);
}

TEST_F(Http, ASlowServerIsGivenUpAndTriedAgain) {
  Answer([this](int n, const httplib::Request&, httplib::Response& response) {
    if (n == 0) server_.Hold();
    response.set_content("{}", "application/json");
  });
  options_.request_timeout = absl::Seconds(1);
  EXPECT_THAT(Post(), IsOk());
  EXPECT_EQ(server_.requests(), 2u);
}

TEST_F(Http, AnAnswerThatIsCutOrNotJsonIsRetried) {
  Answer([](int n, const httplib::Request&, httplib::Response& response) {
    if (n == 0) {
      response.set_content_provider(1000, "application/json",
                                    [](size_t, size_t, httplib::DataSink& sink) {
                                      sink.write("{\"a\":", 5);
                                      return false;
                                    });
    } else {
      response.set_content(n == 1 ? "<html>" : "{}", "application/json");
    }
  });
  EXPECT_THAT(Post(), IsOk());
  EXPECT_EQ(server_.requests(), 3u);
}

TEST_F(Http, WhatMustNotBeDoneTwiceIsNotRetriedOnceItWasAsked) {
  Answer([](int, const httplib::Request&, httplib::Response& response) {
    response.set_content("<html>", "text/html");
  });
  EXPECT_THAT(Post(/*repeatable=*/false), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(server_.requests(), 1u);
}

TEST_F(Http, NobodyListeningIsUnavailable) {
  options_.max_retries = 1;
  HttpJson http(options_, canceller_.get());
  EXPECT_THAT(http.Post({.url = "http://127.0.0.1:1/x"}, deadline_),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(http.Post({.url = "https://127.0.0.1:1/x"}, deadline_),
              StatusIs(absl::StatusCode::kUnavailable));
  for (const char* bad : {"", "x", "ftp://x/", "http://", "https://"}) {
    EXPECT_THAT(http.Post({.url = bad}, deadline_), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(Http, AnEndlessAnswerIsBounded) {
  Answer([](int, const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("application/json", [](size_t, httplib::DataSink& sink) {
      const std::string piece(1 << 16, ' ');
      return sink.write(piece.data(), piece.size());
    });
  });
  options_.max_body = 1 << 20;
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(Http, CancelStopsInTheMiddleOfARequest) {
  Answer([this](int, const httplib::Request&, httplib::Response&) { server_.Hold(); });
  std::thread canceller([this] {
    server_.AwaitHeld();
    canceller_->Cancel();
  });
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kCancelled));
  canceller.join();
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kCancelled)) << "for good";
}

TEST_F(Http, CancelStopsInTheMiddleOfABody) {
  Answer([this](int, const httplib::Request&, httplib::Response& response) {
    response.set_content_provider(1000, "application/json",
                                  [this](size_t, size_t, httplib::DataSink& sink) {
                                    sink.write("{", 1);
                                    server_.Hold();
                                    return false;
                                  });
  });
  std::thread canceller([this] {
    server_.AwaitHeld();
    canceller_->Cancel();
  });
  EXPECT_THAT(Post(), StatusIs(absl::StatusCode::kCancelled));
  canceller.join();
}

TEST_F(Http, CancelStopsAPauseBetweenAttempts) {
  Answer([](int, const httplib::Request&, httplib::Response& response) {
    response.status = 429;
    response.set_header("Retry-After", "40");
  });
  EXPECT_THAT(Post(true, [this](const absl::Status&, absl::Time) { canceller_->Cancel(); }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(RetryAfter, IsSecondsOrADate) {
  const absl::Time now =
      absl::FromCivil(absl::CivilSecond(2026, 10, 21, 7, 28, 0), absl::UTCTimeZone());
  EXPECT_EQ(ParseRetryAfter("120", now), absl::Seconds(120));
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2026 07:29:00 GMT", now), absl::Seconds(60));
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2025 07:29:00 GMT", now), absl::ZeroDuration());
  for (const char* bad : {"", "soon", "-5", "nan", "1e300"}) {
    EXPECT_EQ(ParseRetryAfter(bad, now), absl::ZeroDuration()) << bad;
  }
}

class Mcp : public Http, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Forms, Mcp, testing::Values("json", "sse", "plain"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Mcp, ToolsAreListedAndCalled) {
  server_.OnPost("/mcp", McpHandler(GetParam()));
  server_.Listen();
  HttpJson http(options_, canceller_.get());
  McpClient client(&http, server_.Url("/mcp"));
  const auto tools = client.ListTools(deadline_);
  ASSERT_THAT(tools, IsOk());
  ASSERT_EQ(tools->size(), 2u) << "of two pages";
  EXPECT_EQ((*tools)[0].name, "add");
  EXPECT_EQ((*tools)[0].schema["properties"]["a"]["type"], "number");
  EXPECT_EQ((*tools)[1].schema["type"], "object") << "if the server tells none";
  const auto sum = client.CallTool("add", {{"a", 2}, {"b", 40}}, deadline_);
  ASSERT_THAT(sum, IsOk());
  EXPECT_EQ(sum->text, "42");
  EXPECT_FALSE(sum->is_error);
  const auto failed = client.CallTool("fail", Json::object(), deadline_);
  ASSERT_THAT(failed, IsOk());
  EXPECT_TRUE(failed->is_error);
  EXPECT_EQ(failed->text, "it failed");
}

TEST_F(Http, AnAnswerOnAStreamThatStaysOpenIsEnough) {
  server_.OnPost("/mcp", [this](int, const httplib::Request& request, httplib::Response& response) {
    const Json answer = {{"jsonrpc", "2.0"},
                         {"id", Json::parse(request.body)["id"]},
                         {"result", {{"tools", Json::array()}}}};
    const std::string text = absl::StrCat("data: ", answer.dump(), "\n\n");
    auto sent = std::make_shared<bool>(false);
    response.set_chunked_content_provider("text/event-stream",
                                          [this, text, sent](size_t, httplib::DataSink& sink) {
                                            if (*sent) server_.Hold();
                                            *sent = true;
                                            return sink.write(text.data(), text.size());
                                          });
  });
  server_.Listen();
  HttpJson http(options_, canceller_.get());
  McpClient client(&http, server_.Url("/mcp"));
  EXPECT_THAT(client.ListTools(deadline_), IsOk());
}

}  // namespace
}  // namespace berth
