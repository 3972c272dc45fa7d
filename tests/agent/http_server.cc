#include "tests/agent/http_server.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

}  // namespace

HttpServer::HttpServer() : HttpServer(std::make_unique<httplib::Server>(), "http") {}

HttpServer::HttpServer(const std::string& certificate, const std::string& key)
    : HttpServer(std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str()), "https") {}

HttpServer::HttpServer(std::unique_ptr<httplib::Server> server, std::string scheme)
    : server_(std::move(server)), scheme_(std::move(scheme)) {
  EXPECT_TRUE(server_->is_valid());
  port_ = server_->bind_to_any_port("127.0.0.1");
  EXPECT_GT(port_, 0);
}

HttpServer::~HttpServer() {
  Release();
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

void HttpServer::OnPost(const std::string& path, Handler handler) {
  auto count = std::make_shared<std::atomic<int>>(0);
  server_->Post(
      path, [this, count, handler](const httplib::Request& request, httplib::Response& response) {
        {
          absl::MutexLock lock(mutex_);
          bodies_.push_back(Json::parse(request.body, nullptr, false));
        }
        handler((*count)++, request, response);
      });
}

void HttpServer::Listen() {
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  server_->wait_until_ready();
}

std::string HttpServer::Url(absl::string_view path) const {
  return absl::StrCat(scheme_, "://127.0.0.1:", port_, path);
}

std::vector<Json> HttpServer::Bodies() const {
  absl::MutexLock lock(mutex_);
  return bodies_;
}

void HttpServer::Hold() {
  absl::MutexLock lock(mutex_);
  ++held_;
  mutex_.AwaitWithTimeout(absl::Condition(&released_), absl::Seconds(60));
}

void HttpServer::Release() {
  absl::MutexLock lock(mutex_);
  released_ = true;
}

void HttpServer::AwaitHeld() {
  absl::MutexLock lock(mutex_);
  EXPECT_TRUE(mutex_.AwaitWithTimeout(
      absl::Condition(+[](int* held) { return *held > 0; }, &held_), absl::Seconds(60)));
}

HttpServer::Handler McpHandler(const std::string& form) {
  return [form](int, const httplib::Request& request, httplib::Response& response) {
    const Json message = Json::parse(request.body);
    const std::string method = message["method"];
    if (form != "plain" && method != "initialize" &&
        request.get_header_value("Mcp-Session-Id") != "mcp-1") {
      response.status = 404;
      return;
    }
    if (!message.contains("id")) {
      response.status = form == "plain" ? 400 : 202;
      return;
    }
    Json answer = {{"jsonrpc", "2.0"}, {"id", message["id"]}};
    if (method == "initialize" && form != "plain") {
      answer["result"] = {{"protocolVersion", "2025-06-18"},
                          {"capabilities", {{"tools", Json::object()}}},
                          {"serverInfo", {{"name", "test"}, {"version", "1"}}}};
      response.set_header("Mcp-Session-Id", "mcp-1");
    } else if (method == "tools/list" && !message["params"].contains("cursor")) {
      answer["result"] = {
          {"tools",
           {{{"name", "add"},
             {"description", "adds"},
             {"inputSchema",
              {{"type", "object"}, {"properties", {{"a", {{"type", "number"}}}}}}}}}},
          {"nextCursor", "2"}};
    } else if (method == "tools/list") {
      answer["result"] = {{"tools", {{{"name", "fail"}}}}};
    } else if (method == "tools/call" && message["params"]["name"] == "add") {
      const Json& arguments = message["params"]["arguments"];
      const int sum = arguments.value("a", 0) + arguments.value("b", 0);
      answer["result"] = {{"content", {{{"type", "text"}, {"text", std::to_string(sum)}}}},
                          {"isError", false}};
    } else if (method == "tools/call") {
      answer["result"] = {{"content", {{{"type", "text"}, {"text", "it failed"}}}},
                          {"isError", true}};
    } else {
      answer["error"] = {{"code", -32601}, {"message", "Method not found"}};
    }
    if (form != "sse") return response.set_content(answer.dump(), "application/json");
    const std::string stream = absl::StrCat(
        ": hello\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/",
        "progress\"}\n\ndata: ", answer.dump(), "\r\n\r\n");
    // In two pieces, and more could come.
    auto sent = std::make_shared<int>(0);
    response.set_chunked_content_provider(
        "text/event-stream", [stream, sent](size_t, httplib::DataSink& sink) {
          const size_t half = stream.size() / 2;
          const int piece = (*sent)++;
          if (piece == 0) return sink.write(stream.data(), half);
          if (piece == 1) return sink.write(stream.data() + half, stream.size() - half);
          if (piece == 2) sink.done();
          return true;
        });
  };
}

}  // namespace berth
